/** Parts shared by the services of one process. Each is opened when it is first used. */
import type { MessagePort } from 'node:worker_threads';
import type { EventStore } from '@tollgate/event-store';
import { type PaymentIndex, createPaymentIndex } from '@tollgate/lists';
import { createOperatorCredentials } from '@tollgate/teams';
import { createUnderWay, omitUndefined, once, valueWithin } from '@tollgate/service-kit';
import type { DataDirectory } from '../configuration/data-directory.ts';
import type { GatewayDependencies } from '../configuration/gateway-dependencies.ts';
import { openTeamKeys } from '../configuration/team-signing.ts';
import { ownHost, toHolder } from './lease-holder.ts';
import { inBackground } from './background.ts';
import { createInternalCredential } from '../edge/internal-credential.ts';
import { createMetrics } from '../edge/metrics/metrics.ts';
import { openAccounts } from './open-accounts.ts';
import { type FollowerThread, startFollowerThread } from './followers/follower-thread.ts';
import { joinStore } from './join-store.ts';
import { busAndLeases } from './open-bus.ts';
import { openStore } from './open-store.ts';
import { openTeams } from './open-teams.ts';
import { type ServiceName, providerCalls, serviceNames } from '../configuration/service-names.ts';

export type Parts = ReturnType<typeof createParts>;

export function createParts(
  deps: GatewayDependencies,
  base: {
    dataDirectory: DataDirectory;
    /** In reverse, because later parts need earlier ones. */
    stops: AsyncDisposableStack;
    /** Whether this process runs that service. */
    runs: Runs;
  },
) {
  const { config, ids, logOf, pid } = deps;
  const { dataDirectory, stops, runs } = base;
  const metrics = createMetrics({ log: logOf('metrics') });
  // PIDs are reused, always so in containers: the rest makes the id unique.
  const own = { host: ownHost(), pid, life: ids.hex(6) };
  const { joinedStore, storeConnection, isStoreReachable, isClockWrong } = storeOf(deps, base, toHolder(own));
  const store = async () => (await joinedStore()).store;
  const members = async () => (await joinedStore()).members;

  // On a store of this machine alone all processes share the directory.
  const isInstallation = config.eventStore === undefined || serviceNames.every(runs);
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
    ...deps,
    ...base,
    ...secrets,
    metrics,
    /** Requests that long reads of this process yield to. */
    underWay: createUnderWay(),
    /** This life of this process, in leases. */
    holder: own,
    store,
    /** False while the store does not answer a process that has opened it. */
    isStoreReachable,
    /** True while the wall clock of this host is too far from the store's. */
    isClockWrong,
    ...busAndLeases(deps, { store, own, stops }),
    /** The thread that follows the store next to this one; undefined if this one does it. */
    followerThread,
    /** Living processes of the installation, including this one. */
    members,
    /** Signs and verifies the events of teams. */
    teamKeys,
    /** Started: it knows every key. */
    teams: async () => (await teams()).directory,
    /** The security log, with its writers. */
    security: teams,
    /** Started: it has every event, or reports that it is rebuilding. */
    index,
    /** Shares their limits with the other processes that call them. */
    accounts: once(async () => {
      const joined = await members();
      stops.defer(inBackground((signal) => joined.share(providerCalls, signal)));
      const processes = () => joined.place(providerCalls).count;
      const isWhole = serviceNames.every(runs);
      return openAccounts({ ...deps, metrics, isWhole, processes }, dataDirectory, stops);
    }),
  };
}

type Runs = (service: ServiceName) => boolean;

/** A small index is complete before the first request. */
const indexWaitMs = 2_000;

async function openIndex(
  { config, clock, ids, logOf }: GatewayDependencies,
  { dataDirectory, runs, stops }: { dataDirectory: DataDirectory; runs: Runs; stops: AsyncDisposableStack },
  { store, thread }: { store: EventStore; thread: FollowerThread | undefined },
): Promise<PaymentIndex> {
  const opened = createPaymentIndex({
    file: indexFileOf(dataDirectory, runs),
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
  runs: Runs,
): string => (runs('query-service') ? indexFile : commandIndexFile);

/** If nothing needs the store, nothing is missing. */
function storeOf(
  { config, clock, ids, logOf }: GatewayDependencies,
  { dataDirectory, stops }: { dataDirectory: DataDirectory; stops: AsyncDisposableStack },
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
    stops.defer(() => opened.close());
    isStoreReachable = opened.isReachable;
    ({ connection } = opened);
    const log = logOf('members');
    const joined = await joinStore({ store: opened, clock, ids, log, member });
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
    /** Between services, signed and verified. */
    internalCredential: () => createInternalCredential(internalSecrets(), clock),
    /** Links to sign in that this process has printed, by their short form. */
    shortLinks: new Map<string, string>(),
    operatorCredentials: once(() => createOperatorCredentials(internalSecrets(), { clock, ids })),
  };
}
