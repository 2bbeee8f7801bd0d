/** Parts shared by the services of one process. Each is opened when it is first used. */
import type { MessagePort } from 'node:worker_threads';
import { type EventStore, type Members, runUnderLease } from '@tollgate/event-store';
import type { KafkaMessageBus, MessageBus } from '@tollgate/message-bus';
import { type PaymentIndex, createPaymentIndex } from '@tollgate/lists';
import {
  type OperatorCredentials,
  type TeamDirectory,
  type TeamKeys,
  createOperatorCredentials,
} from '@tollgate/teams';
import type { CallbackSecret } from '@tollgate/provider/callbacks';
import {
  type DataSecrets,
  type UnderWay,
  type WebhookMasterSecret,
  createUnderWay,
  omitUndefined,
  once,
  valueWithin,
} from '@tollgate/service-kit';
import type { DataDirectory } from '../configuration/data-directory.ts';
import type { GatewayDependencies } from '../configuration/gateway-dependencies.ts';
import { openTeamKeys } from '../configuration/team-signing.ts';
import { type Holder, isOfAnEndedProcess, ownHost, toHolder } from './lease-holder.ts';
import { type RunAlone, inBackground } from './background.ts';
import { type InternalCredential, createInternalCredential } from '../edge/internal-credential.ts';
import { type Metrics, createMetrics } from '../edge/metrics/metrics.ts';
import { type OpenedAccounts, openAccounts } from './open-accounts.ts';
import { type FollowerThread, startFollowerThread } from './followers/follower-thread.ts';
import { joinStore } from './join-store.ts';
import { openBus } from './open-bus.ts';
import { openStore } from './open-store.ts';
import { type OpenedTeams, openTeams } from './open-teams.ts';
import { type ServiceName, providerCalls, serviceNames } from '../configuration/service-names.ts';

export interface Parts extends GatewayDependencies {
  dataDirectory: DataDirectory;
  metrics: Metrics;
  /** Requests that long reads of this process yield to. */
  underWay: UnderWay;
  /** In reverse, because later parts need earlier ones. */
  stops: AsyncDisposableStack;
  /** Whether this process runs that service. */
  runs: (service: ServiceName) => boolean;
  store: () => Promise<EventStore>;
  /** Lets another thread write to the file of the store; undefined if the store is a server. */
  storeConnection: () => Promise<MessagePort | undefined>;
  /** This life of this process, in leases. */
  holder: Holder;
  /** False while the store does not answer a process that has opened it. */
  isStoreReachable: () => boolean;
  /** True while the wall clock of this host is too far from the store's. */
  isClockWrong: () => boolean;
  bus: () => Promise<MessageBus | KafkaMessageBus>;
  runAlone: () => Promise<RunAlone>;
  /** The thread that follows the store next to this one; undefined if this one does it. */
  followerThread: () => Promise<FollowerThread | undefined>;
  /** Members that share the limits of the accounts, including this process. */
  members: () => Promise<Members>;
  /** Signs and verifies the events of teams. */
  teamKeys: TeamKeys;
  /** Started: it knows every key. */
  teams: () => Promise<TeamDirectory>;
  /** The security log, with its writers. */
  security: () => Promise<Pick<OpenedTeams, 'security' | 'securityLog'>>;
  /** Started: it has every event, or reports that it is rebuilding. */
  index: () => Promise<PaymentIndex>;
  accounts: () => Promise<OpenedAccounts>;
  callbackSecrets: () => readonly CallbackSecret[];
  webhookSecrets: () => readonly WebhookMasterSecret[];
  dataSecrets: () => DataSecrets;
  /** Credentials between services, signed and verified. */
  internalCredential: () => InternalCredential;
  /** Credentials of operators. */
  operatorCredentials: () => OperatorCredentials;
  /** Links to sign in that this process has printed, by their short form. */
  shortLinks: Map<string, string>;
}

export function createParts(
  deps: GatewayDependencies,
  base: Pick<Parts, 'dataDirectory' | 'stops' | 'runs'> & {
    /** True if the data directory belongs to the whole installation, even if the services run as separate processes. */
    isInstallation?: boolean;
  },
): Parts {
  const { config, clock, ids, logOf, pid } = deps;
  const { dataDirectory, stops, runs } = base;
  const metrics = createMetrics({ log: logOf('metrics') });
  // PIDs are reused, always so in containers: the rest makes the id unique.
  const own = { host: ownHost(), pid, life: ids.hex(6) };
  const holder = toHolder(own);
  const isGone = (other: string) => isOfAnEndedProcess(other, own);

  const { joinedStore, storeConnection, isStoreReachable, isClockWrong } = storeOf(deps, base, holder);
  const store = async () => (await joinedStore()).store;
  const bus = once(async () => {
    const { kafka } = config;
    return openBus({ kafka, store, clock, ids, holder, isGone, log: logOf('message-bus') }, stops);
  });

  const runAlone = once(async (): Promise<RunAlone> => {
    const leases = { store: await store(), clock, ids, holder, isGone };
    return (name, signal, work) => runUnderLease({ ...leases, name, signal, log: logOf(name) }, work);
  });

  // Until the others are seen, this one is alone.
  let processes = () => 1;
  const members = once(async () => {
    const { members: joined } = await joinedStore();
    stops.defer(inBackground((signal) => joined.share(providerCalls, signal)));
    processes = () => joined.place(providerCalls).count;
    return joined;
  });

  // On a store of this machine alone all processes share the directory.
  const isInstallation = base.isInstallation ?? (config.eventStore === undefined || serviceNames.every(runs));
  const teamKeys = openTeamKeys(config.teamSigning, dataDirectory, { mayInstall: isInstallation });
  const secrets = secretsOf(deps, dataDirectory);
  const teams = once(async () =>
    openTeams(
      deps,
      { store: await store(), teamKeys, metrics, operators: secrets.operatorCredentials() },
      stops,
    ),
  );

  const followerThread = once(async () =>
    deps.hasFollowerThread === true && serviceNames.every(runs)
      ? startFollowerThread({ ...deps, metrics, stops, storeConnection, holder: own })
      : undefined,
  );

  const index = once(async () =>
    openIndex(deps, base, { store: await store(), thread: await followerThread() }),
  );

  return {
    underWay: createUnderWay(),
    ...deps,
    ...base,
    metrics,
    store,
    bus,
    runAlone,
    members,
    teamKeys,
    index,
    storeConnection,
    followerThread,
    isStoreReachable,
    isClockWrong,
    holder: own,
    teams: async () => (await teams()).directory,
    security: teams,
    accounts: once(() =>
      openAccounts(
        { ...deps, metrics, isWhole: serviceNames.every(runs), processes: () => processes() },
        dataDirectory,
        stops,
      ),
    ),
    ...secrets,
  };
}

/** A small index is complete before the first request. */
const indexWaitMs = 2_000;

async function openIndex(
  { config, clock, ids, logOf }: GatewayDependencies,
  { dataDirectory, runs, stops }: Pick<Parts, 'dataDirectory' | 'runs' | 'stops'>,
  { store, thread }: { store: EventStore; thread: FollowerThread | undefined },
): Promise<PaymentIndex> {
  const opened = createPaymentIndex({
    file: indexFileOf(dataDirectory, runs),
    scope: runs('query-service') ? 'lists' : 'work',
    store,
    clock,
    ids,
    delays: config.inquiryDelays,
    log: logOf(runs('query-service') ? 'query-service' : 'command-service'),
    ...omitUndefined({ filler: thread?.filler }),
  });
  stops.defer(() => opened.stop());
  // No payment waits for a large index: its rebuild continues after this.
  await valueWithin(clock, indexWaitMs, opened.start());
  return opened;
}

/** Two processes never share an index: the command service has one of its own if it is alone. */
export const indexFileOf = (
  { indexFile, commandIndexFile }: Pick<DataDirectory, 'indexFile' | 'commandIndexFile'>,
  runs: Parts['runs'],
): string => (runs('query-service') ? indexFile : commandIndexFile);

/** If nothing needs the store, nothing is missing. */
function storeOf(
  { config, clock, ids, logOf }: GatewayDependencies,
  { dataDirectory, stops }: Pick<Parts, 'dataDirectory' | 'stops'>,
  member: string,
) {
  let isStoreReachable = () => true;
  let isClockWrong = () => false;
  let connection: (() => MessagePort) | undefined;
  const joinedStore = once(async () => {
    const { eventStore } = config;
    const file = dataDirectory.eventsFile;
    if (eventStore === undefined) dataDirectory.requireStore();
    const opened = await openStore({ eventStore, file, clock, log: logOf('event-store') });
    stops.defer(() => opened.store.close());
    isStoreReachable = opened.isReachable;
    connection = opened.connection;
    const log = logOf('members');
    const joined = await joinStore({ store: opened.store, clock, ids, log, member });
    stops.defer(joined.leave);
    ({ isClockWrong } = joined.members);
    return joined;
  });
  return {
    joinedStore,
    async storeConnection() {
      await joinedStore();
      return connection?.();
    },
    isStoreReachable: () => isStoreReachable(),
    isClockWrong: () => isClockWrong(),
  };
}

/** Of the environment, else of the data directory. */
function secretsOf(
  { config, clock, ids }: Pick<GatewayDependencies, 'config' | 'clock' | 'ids'>,
  dataDirectory: DataDirectory,
) {
  const internalSecrets = () => config.internalSecrets ?? dataDirectory.internalSecrets(ids);
  return {
    callbackSecrets: () => config.callbackSecrets ?? dataDirectory.callbackSecrets(ids),
    webhookSecrets: () => config.webhookSecrets ?? dataDirectory.webhookSecrets(ids),
    dataSecrets: () => config.dataSecrets ?? dataDirectory.dataSecrets(ids),
    internalCredential: () => createInternalCredential(internalSecrets(), clock),
    shortLinks: new Map(),
    operatorCredentials: once(() => createOperatorCredentials(internalSecrets(), { clock, ids })),
  };
}
