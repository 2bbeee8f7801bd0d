/** The tools that commands work with. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PaymentIndex, createPaymentIndex } from '@tollgate/lists';
import type { EventStore } from '@tollgate/event-store';
import type { TopicDifference, TopicSpec } from '@tollgate/message-bus';
import type { Account, Environment, Person } from '@tollgate/core';
import type {
  AccountName,
  DataDirectory,
  InstalledTeamKeys,
  InternalSecrets,
} from '@tollgate/gateway/configuration';
import {
  type Clock,
  type DataSecrets,
  type Ids,
  type Log,
  TollgateError,
  type WebhookMasterSecret,
} from '@tollgate/service-kit';
import { type Output, commandsOf, printable } from '@tollgate/service-kit/command-line';
import { type TeamKeys, createSecurityLog } from '@tollgate/teams';

export interface ActingTools extends OpenedTools {
  /** Recorded as the cause of every change. */
  person: Person;
}

export type CommandTools = ActingTools & Output;

/** Makes a command of `tollgate`: the values of its function are typed by its parameters. */
export const command = commandsOf<ActingTools>();

export interface OpenedTools {
  directory: DataDirectory;
  store: EventStore;
  /** Whether the events are in a file of the data directory. @default true */
  isEmbedded?: boolean;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** The master secrets for signing webhooks. @throws StartupError if they are invalid */
  webhookSecrets: () => readonly WebhookMasterSecret[];
  /** The secrets that protect data in the event store. @throws StartupError if they are invalid */
  dataSecrets: () => DataSecrets;
  internalSecrets: () => InternalSecrets;
  /** Signs and verifies the events of teams. */
  teamKeys: TeamKeys & Partial<InstalledTeamKeys>;
  /**
   * An account of the gateway, with a client that the caller must close.
   *
   * @throws TollgateError if the account does not exist, or the accounts are invalid
   */
  openAccount: (environment: Environment, name: string) => Account;
  /** Names of the accounts; undefined if not known here. @throws StartupError if the file cannot be read */
  accountNames?: () => readonly AccountName[] | undefined;
  /** Absent without Kafka. */
  topicAdmin?: TopicAdmin;
  /** Aborted when the user stops the command. A command that calls it must then end by itself. */
  stopSignal?: () => AbortSignal;
  /** Ends a restore, after which a gateway may start; absent unless the program has restored a backup. */
  endRestore?: () => void;
}

/** Creates and compares topics. */
export interface TopicAdmin {
  /** Creates missing topics; returns the differences of the others. */
  ensureTopics(specs: readonly TopicSpec[]): Promise<TopicDifference[]>;
  /** Changes nothing. */
  checkTopics(specs: readonly TopicSpec[]): Promise<TopicDifference[]>;
}

/** A temporary index, deleted with the stack. Building it reads every event once. */
export async function openTemporaryIndex(
  tools: Pick<CommandTools, 'store' | 'clock' | 'ids' | 'log'>,
  stops: AsyncDisposableStack,
): Promise<PaymentIndex> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-index-'));
  stops.defer(() => rmSync(folder, { recursive: true, force: true }));
  const index = createPaymentIndex({ ...tools, file: join(folder, 'index.db') });
  stops.defer(() => index.stop());
  await index.start();
  return index;
}

export const stopSignalOf = ({ stopSignal }: CommandTools): AbortSignal =>
  stopSignal?.() ?? new AbortController().signal;

/** @param known accounts of that environment */
export const noAccount = (name: string, environment: string, known: readonly { name: string }[]) =>
  new TollgateError(
    'account_not_found',
    `There is no account ${printable(name)} in ${environment}. ${known.length === 0 ? 'It has no accounts' : `Its accounts are ${known.map((each) => each.name).join(', ')}`}. See: account list.`,
  );

/** Records an action that has no event of its own, or reveals a secret. Called before the action. */
export const recordAction = (
  { person, ...tools }: CommandTools,
  command: string,
  detail: Readonly<Record<string, unknown>> = {},
): Promise<void> =>
  createSecurityLog(tools).record([
    { event: { type: 'OperatorActed', data: { command, detail } }, actor: person },
  ]);

export function causeOf({ ids, person }: CommandTools) {
  const correlationId = ids.uuid();
  return { correlationId, causationId: correlationId, actor: person };
}

/** For a person. */
export const number = (value: number): string => value.toLocaleString('en');
