/** What operators change about the merchant accounts while the gateway runs: every process follows one stream of the store. */
import {
  type Decision,
  type EventStore,
  type Position,
  type RecordedEvent,
  type Revision,
  beginning,
  decideAndAppend,
} from '@tollgate/event-store';
import {
  type AccountChange,
  type Environment,
  type EventMetadata,
  type MerchantAccountEvent,
  type MerchantAccounts,
  decideAccountChange,
  decodeMerchantAccountEvent,
  evolveMerchantAccounts,
  merchantAccountKey,
  merchantAccountsStream,
  noAccountChanges,
  versionOfMerchantAccountEvent,
} from '@tollgate/payment-domain';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import type { Cause } from '../aggregates/repository.ts';
import type { ChangeableAccounts } from './accounts.ts';

export interface AccountChangeDependencies {
  store: EventStore;
  clock: Pick<Clock, 'now'>;
  ids: Ids;
}

/**
 * Takes a change on record, also where the account is in that state already. It counts in a process that has caught up since.
 *
 * @throws StoreUnavailable; `upgrade_not_finished` (retryable) while a process of a release runs that would not heed it
 */
export const changeAccount = (
  deps: AccountChangeDependencies,
  change: Omit<AccountChange, 'changedAt'>,
  cause: Cause,
): Promise<void> =>
  append(deps, cause, () => decideAccountChange({ ...change, changedAt: deps.clock.now() }));

/** Asks every process to read its accounts file again. @throws as `changeAccount` */
export const requestReload = (deps: AccountChangeDependencies, cause: Cause): Promise<void> =>
  append(deps, cause, () => ({
    kind: 'events',
    events: [{ type: 'AccountsReloadRequested', data: { requestedAt: deps.clock.now() } }],
  }));

async function append(
  { store, clock, ids }: AccountChangeDependencies,
  cause: Cause,
  decide: () => Decision<MerchantAccountEvent, never>,
): Promise<void> {
  const metadataOf = (event: MerchantAccountEvent): EventMetadata => ({
    ...cause,
    schemaVersion: versionOfMerchantAccountEvent(event),
    recordedAt: clock.now(),
  });
  await decideAndAppend<MerchantAccounts, MerchantAccountEvent, never>({
    ...{ store, stream: merchantAccountsStream, initial: noAccountChanges, decide },
    ...{ decode: decodeMerchantAccountEvent, evolve: evolveMerchantAccounts },
    toNewEvents: (events) =>
      events.map((event) => ({ id: ids.uuid(), ...event, metadata: metadataOf(event) })),
  });
}

/** What has been changed so far, for readers that change nothing. @throws StoreUnavailable */
export async function readAccountChanges(store: Pick<EventStore, 'read'>): Promise<MerchantAccounts> {
  let accounts = noAccountChanges;
  for await (const recorded of store.read(merchantAccountsStream))
    accounts = evolveMerchantAccounts(accounts, decodeMerchantAccountEvent(recorded));
  return accounts;
}

export interface AccountChanges {
  /** Resolves when everything counts here that was on record before the call. @throws StoreUnavailable */
  catchUp(): Promise<void>;
  /** Takes in what others record, until the signal. The first time, what is on record has to be known already. */
  follow(signal: AbortSignal): Promise<void>;
  /** The last change of an account; undefined where there was none. */
  of(environment: Environment, account: string): AccountChange | undefined;
  /** What is wrong with the accounts file since it was last read; undefined where nothing is. */
  fileFault(): string | undefined;
}

export interface AccountsFile {
  /** Reads it, and gives the names of what would change. @throws StartupError where it cannot be used */
  compare(): FileDifferences;
  /** Reads it, and uses it. @throws StartupError where it cannot be used; then nothing has changed */
  reload(): FileDifferences;
}

/** Accounts as `environment/name`. */
export interface FileDifferences {
  added: readonly string[];
  changed: readonly string[];
  removed: readonly string[];
}

/** @param deps `file` undefined where there is none to read again */
export function createAccountChanges(deps: {
  store: EventStore;
  accounts: Pick<ChangeableAccounts, 'setState'>;
  file: AccountsFile | undefined;
  log: Log;
}): AccountChanges {
  const { store, accounts, file, log } = deps;
  let known = noAccountChanges;
  let next: Revision = 0;
  let followedTo: Position = beginning;
  let fault: string | undefined;

  /** What nobody can read changes nothing: the state before it stays. */
  function decode(recorded: RecordedEvent): MerchantAccountEvent | undefined {
    try {
      return decodeMerchantAccountEvent(recorded);
    } catch (error) {
      log.error({ error, revision: recorded.revision }, 'a change of a merchant account cannot be read');
      return undefined;
    }
  }

  /** Those of a batch together: the file is read once, and of each account only its last state counts. */
  function apply(batch: readonly RecordedEvent[]): void {
    const before = known;
    let isFileDue = false;
    // Somebody else may have taken a part of them in meanwhile.
    for (const recorded of batch.filter(({ revision }) => revision >= next)) {
      next = recorded.revision + 1;
      const event = decode(recorded);
      if (event === undefined) continue;
      known = evolveMerchantAccounts(known, event);
      isFileDue ||= event.type === 'AccountsReloadRequested';
    }
    for (const [key, { environment, account, state }] of known) {
      if ((before.get(key)?.state ?? 'active') === state) continue;
      accounts.setState(environment, account, state);
      log.warn({ account }, `a ${environment} account is ${state}`);
    }
    if (isFileDue) reload();
  }

  function reload(): void {
    try {
      const differences = file?.reload();
      fault = undefined;
      if (differences !== undefined)
        log.info({}, `the accounts file was read again: ${inWords(differences)}`);
    } catch (error) {
      // Whatever it is: who does not go on here hears of no pause any more.
      fault = error instanceof Error ? error.message : String(error);
      log.error({ error }, 'the accounts file cannot be used; the accounts stay as they were');
    }
  }

  const catchUp = async (): Promise<void> =>
    apply(await Array.fromAsync(store.read(merchantAccountsStream, { from: next })));

  return {
    catchUp,
    async follow(signal) {
      // What is appended while the stream is read comes with the subscription, too.
      if (followedTo === beginning) followedTo = await store.head();
      await catchUp();
      const from = followedTo;
      for await (const item of store.subscribe({ from, prefixes: [merchantAccountsStream], signal })) {
        if (item.kind === 'event' && item.stream === merchantAccountsStream) {
          if (item.revision > next) await catchUp();
          apply([item]);
        }
        followedTo = item.position;
      }
    },
    of: (environment, account) => known.get(merchantAccountKey(environment, account)),
    fileFault: () => fault,
  };
}

const inWords = ({ added, changed, removed }: FileDifferences): string =>
  `${added.length} added, ${changed.length} changed, ${removed.length} removed`;
