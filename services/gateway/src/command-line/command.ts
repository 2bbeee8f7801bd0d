/** What the commands of `tollgate` share. */
import type { EventStore } from '@tollgate/event-store';
import { createComputedTopicReader } from '@tollgate/event-publisher';
import type { MessageBus, TopicDifference, TopicReader, TopicSpec } from '@tollgate/message-bus';
import type { Account } from '@tollgate/command-service';
import { type Environment, type Person, environmentSchema } from '@tollgate/payment-domain';
import {
  type Clock,
  type DataSecrets,
  type Ids,
  type Log,
  TollgateError,
  type WebhookMasterSecret,
} from '@tollgate/service-kit';
import { type RunCommand as Run, printable } from '@tollgate/service-kit/command-line';
import { Option } from 'commander';
import type { AccountName } from '../configuration/account-config.ts';
import type { DataDirectory } from '../configuration/data-directory.ts';
import type { InternalSecrets } from '../configuration/internal-secrets.ts';
import type { TeamKeys } from '@tollgate/teams';
import type { InstalledTeamKeys } from '../configuration/team-signing.ts';

export type { CommandResult } from '@tollgate/service-kit/command-line';
export type RunCommand = Run<CommandTools>;

export interface CommandTools extends OpenedTools {
  /** Whom everything that is changed names as its cause. */
  person: Person;
}

/** What the work of a command may use. */
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
  /** Gives what is aborted when the user stops the command; a command that calls it ends by itself then. */
  stopSignal?: () => AbortSignal;
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

export const environmentOption = (description: string): Option =>
  new Option('--environment <environment>', description)
    .choices(environmentSchema.options)
    .makeOptionMandatory();

/** @param known of that environment */
export const noAccount = (name: string, environment: string, known: readonly { name: string }[]) =>
  new TollgateError(
    'account_not_found',
    `There is no account ${printable(name)} in ${environment}; there ${known.length === 0 ? 'is none' : `are ${known.map((each) => each.name).join(', ')}`}.`,
  );
