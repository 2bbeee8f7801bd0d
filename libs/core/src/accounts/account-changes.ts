/** Follows the changes of merchant accounts that operators make while the gateway runs. */
import {
  type EventStore,
  type Position,
  type RecordedEvent,
  type Revision,
  beginning,
} from '@tollgate/event-store';
import {
  type AccountChange,
  type MerchantAccountEvent,
  type MerchantAccounts,
  accountChangeOf,
  decodeMerchantAccountEvent,
  evolveMerchantAccounts,
  merchantAccountsStream,
  noAccountChanges,
} from '../domain/merchant-account/merchant-account.ts';
import { type Environment } from '../domain/values.ts';
import type { Log } from '@tollgate/service-kit';
import type { ChangeableAccounts } from './accounts.ts';

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
  /** The last change of an account; undefined if there was none. */
  of(environment: Environment, account: string): AccountChange | undefined;
  /** What is wrong with the accounts file since it was last read; undefined where nothing is. */
  fileFault(): string | undefined;
}

export interface AccountsFile {
  /** Reads it, and gives the names of what would change. @throws StartupError if it cannot be used */
  compare(): FileDifferences;
  /** Reads it, and uses it. @throws StartupError if it cannot be used; then nothing has changed */
  reload(): FileDifferences;
}

/** Accounts as `environment/name`. */
export interface FileDifferences {
  added: readonly string[];
  changed: readonly string[];
  removed: readonly string[];
}

/** @param deps `file` undefined if there is none to read again */
export function createAccountChanges(deps: {
  store: EventStore;
  accounts: Pick<ChangeableAccounts, 'setState' | 'pauseAll'>;
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
    if (isRestored(before, known)) accounts.pauseAll();
    for (const { environment, account, state } of stateChanges(before, known)) {
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
    of: (environment, account) => accountChangeOf(known, environment, account),
    fileFault: () => fault,
  };
}

const inWords = ({ added, changed, removed }: FileDifferences): string =>
  `${added.length} added, ${changed.length} changed, ${removed.length} removed`;

const isRestored = (before: MerchantAccounts, after: MerchantAccounts): boolean =>
  before.restore?.restoredAt !== after.restore?.restoredAt;

/** The changes that lead from one to the other, from where a restore leaves all accounts. */
function stateChanges(before: MerchantAccounts, after: MerchantAccounts): AccountChange[] {
  const from = isRestored(before, after) ? { ...after, changes: noAccountChanges.changes } : before;
  return [...after.changes.values()].filter(
    ({ environment, account, state }) =>
      (accountChangeOf(from, environment, account)?.state ?? 'active') !== state,
  );
}
