/** Opens a gateway's data, whether or not the gateway is running. */
import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { guardAppends, requireReadable, schemaVersion } from '@tollgate/event-store';
import type { TopicSpec } from '@tollgate/message-bus';
import { providers } from '@tollgate/provider';
import { type Clock, type Ids, type Log, StartupError } from '@tollgate/service-kit';
import {
  type DataDirectory,
  type KafkaConfig,
  accountNamesBesideGateway,
  accountsBesideGateway,
  type dataDirConfigSchema,
  defaultCallDeadlineMs,
  openDataDirectory,
  openStore,
  openTeamKeys,
  release,
} from '@tollgate/gateway/configuration';
import type { z } from 'zod';
import { type OpenedTools, noAccount } from './tools.ts';
import { inquiryLimits } from '@tollgate/accounts';

export type BesideGatewayConfig = Partial<Omit<z.infer<typeof dataDirConfigSchema>, 'dataDir'>>;

/**
 * @throws StartupError with one sentence. A missing data directory is never created: with a wrong path, every change
 * would be lost.
 */
export async function openBesideGateway(
  dataDir: string,
  parts: { clock: Clock; ids: Ids; log: Log },
  configured: BesideGatewayConfig = {},
): Promise<{ tools: OpenedTools; close: () => Promise<void> }> {
  const path = resolve(dataDir);
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== true) throw notThere(path);
  const directory = openDataDirectory(path);
  const { eventStore } = configured;
  const file = directory.eventsFile;
  if (eventStore === undefined && statSync(file, { throwIfNoEntry: false }) === undefined)
    throw notThere(path);
  const opened = await openStore({ eventStore, file, ...parts });
  const self = { release, reads: schemaVersion };
  await requireReadable({ ...parts, store: opened }, self).catch(async (error: unknown) => {
    await opened.close();
    throw error;
  });
  const store = guardAppends(opened);
  // Like the gateway: from the environment, otherwise from its file.
  const webhookSecrets = () => configured.webhookSecrets ?? directory.webhookSecrets(parts.ids);
  const dataSecrets = () => configured.dataSecrets ?? directory.dataSecrets(parts.ids);
  const internalSecrets = () => configured.internalSecrets ?? directory.internalSecrets(parts.ids);
  const openAccount = openAccountsBeside(directory, parts, configured);
  const isEmbedded = eventStore === undefined;
  const teamKeys = openTeamKeys(configured.teamSigning ?? {}, directory, { mayInstall: isEmbedded });
  const tools = {
    directory,
    store,
    isEmbedded,
    ...parts,
    webhookSecrets,
    dataSecrets,
    internalSecrets,
    openAccount,
    teamKeys,
    accountNames: () => accountNamesBesideGateway(configured.accountsFile, directory),
    ...(await kafkaTools(configured.kafka, parts)),
  };
  return { tools, close: () => store.close() };
}

/** Configuration and client of each account. */
const openAccountsBeside =
  (
    directory: DataDirectory,
    { clock }: { clock: Clock },
    { accountsFile, callDeadlineMs = defaultCallDeadlineMs }: BesideGatewayConfig,
  ): NonNullable<OpenedTools['openAccount']> =>
  (environment, name) => {
    const accounts = accountsBesideGateway(accountsFile, directory).filter(
      (account) => account.environment === environment,
    );
    const account = accounts.find((each) => each.name === name);
    if (account === undefined) throw noAccount(name, environment, accounts);
    const maxConnections = account.concurrentInquiriesMax ?? inquiryLimits.concurrentInquiriesMax;
    const options = { ...account, deadlineMs: callDeadlineMs, maxConnections, clock };
    return { ...account, provider: providers[account.provider](options) };
  };

async function kafkaTools(
  kafka: KafkaConfig | undefined,
  { clock, log }: { clock: Clock; log: Log },
): Promise<Pick<OpenedTools, 'topicAdmin'>> {
  if (kafka === undefined) return {};
  const { checkTopics, ensureTopics } = await import('@tollgate/message-bus/kafka');
  const { topicPrefix } = kafka;
  const connection = { ...kafka.connection, clock, log };
  const prefixed = (specs: readonly TopicSpec[]) =>
    specs.map((spec) => ({ ...spec, topic: `${topicPrefix}${spec.topic}` }));
  return {
    topicAdmin: {
      ensureTopics: (specs) => ensureTopics(connection, prefixed(specs)),
      checkTopics: (specs) => checkTopics(connection, prefixed(specs)),
    },
  };
}

const notThere = (path: string) =>
  new StartupError(
    'data_dir_missing',
    `TOLLGATE_DATA_DIR is ${path}, which is not the data directory of a gateway. Set it to that of your gateway, or start the gateway once.`,
  );
