/** What the commands work with. */
import type { EventStore } from '@tollgate/event-store';
import { createComputedTopicReader } from '@tollgate/topics';
import type { MessageBus, TopicDifference, TopicReader, TopicSpec } from '@tollgate/message-bus';
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
import { type Output, printable } from '@tollgate/service-kit/command-line';
import { type TeamKeys, createSecurityLog } from '@tollgate/teams';

export interface ActingTools extends OpenedTools {
  /** Recorded as the cause of every change. */
  person: Person;
}

export type CommandTools = ActingTools & Output;

export interface OpenedTools {
  directory: DataDirectory;
  store: EventStore;
  /** Whether the events are in a file of the data directory; they are unless it says otherwise. */
  isEmbedded?: boolean;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** The masters of the secrets that webhooks are signed with. @throws StartupError where they are set wrong */
  webhookSecrets: () => readonly WebhookMasterSecret[];
  /** What protects data in the event store. @throws StartupError where they are set wrong */
  dataSecrets?: () => DataSecrets;
  /** What the gateway has in its environment for its services to know each other by; absent: what is in its directory. */
  internalSecrets?: () => InternalSecrets;
  /** What signs and checks the events of teams; without it there are no commands for teams. */
  teamKeys?: TeamKeys & Partial<InstalledTeamKeys>;
  /**
   * An account that the gateway uses, with a client that is closed by who opened it.
   *
   * @throws TollgateError where there is no such account, or the accounts are set wrong
   */
  openAccount?: (environment: Environment, name: string) => Account;
  /** What its accounts are called; undefined where that is not known here. @throws StartupError where the file cannot be read */
  accountNames?: () => readonly AccountName[] | undefined;
  /** The bus that the gateway uses; absent where it is embedded in the store. */
  openBus?: () => MessageBus;
  /** Absent without Kafka: then the public topics are computed from the events. */
  topicReader?: TopicReader;
  /** Absent without Kafka. */
  topicAdmin?: TopicAdmin;
  /** Is aborted when the user stops the command; a command that calls it then ends by itself. */
  stopSignal?: () => AbortSignal;
  /** Ends a restore, after which a gateway may start; absent unless the program has put a backup in place. */
  endRestore?: () => void;
  /** Whether output goes to a terminal with colours. */
  hasColours?: boolean;
}

/** Creates and compares topics. */
export interface TopicAdmin {
  /** Creates those that do not exist; gives what is different about the others. */
  ensureTopics(specs: readonly TopicSpec[]): Promise<TopicDifference[]>;
  /** Changes nothing. */
  checkTopics(specs: readonly TopicSpec[]): Promise<TopicDifference[]>;
}

export const topicReaderOf = (tools: CommandTools): TopicReader =>
  tools.topicReader ?? createComputedTopicReader(tools);

export const stopSignalOf = ({ stopSignal }: CommandTools): AbortSignal =>
  stopSignal?.() ?? new AbortController().signal;

/** @param known of that environment */
export const noAccount = (name: string, environment: string, known: readonly { name: string }[]) =>
  new TollgateError(
    'account_not_found',
    `There is no account ${printable(name)} in ${environment}; there ${known.length === 0 ? 'is none' : `are ${known.map((each) => each.name).join(', ')}`}.`,
  );

/** Before what has no event of its own, or shows a secret. */
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
