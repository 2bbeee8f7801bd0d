/** Follows the changes that operators make to merchant accounts at run time. */
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
} from './merchant-account.ts';
import type { ChangeableAccounts, Environment } from '@tollgate/core';
import type { Log } from '@tollgate/service-kit';

/** All changes so far, for readers that make none. @throws StoreUnavailable */
export async function readAccountChanges(store: Pick<EventStore, 'read'>): Promise<MerchantAccounts> {
  let accounts = noAccountChanges;
  for await (const recorded of store.read(merchantAccountsStream))
    accounts = evolveMerchantAccounts(accounts, decodeMerchantAccountEvent(recorded));
  return accounts;
}

export type AccountChanges = ReturnType<typeof createAccountChanges>;

export interface AccountsFile {
  /** Reads the file and returns the names of the accounts that would change. @throws StartupError if the file is invalid */
  compare(): FileDifferences;
  /** Reads the file and applies it. @throws StartupError if the file is invalid; then nothing has changed */
  reload(): FileDifferences;
}

export interface FileDifferences {
  added: readonly string[];
  changed: readonly string[];
  removed: readonly string[];
}

/** @param deps `file` is undefined without an accounts file */
export function createAccountChanges(deps: {
  store: EventStore;
  accounts: Pick<ChangeableAccounts, 'setState' | 'pauseAll'>;
  file: AccountsFile | undefined;
  log: Log;
}) {
  const { store, accounts, file, log } = deps;
  let known = noAccountChanges;
  let next: Revision = 0;
  let followedTo: Position = beginning;
  let fault: string | undefined;

  /** An undecodable event changes nothing. */
  function decode(recorded: RecordedEvent): MerchantAccountEvent | undefined {
    try {
      return decodeMerchantAccountEvent(recorded);
    } catch (error) {
      log.error({ error, revision: recorded.revision }, 'a change of a merchant account cannot be read');
      return undefined;
    }
  }

  /** A batch is applied at once: the file is read once, and only the last state of each account counts. */
  function apply(batch: readonly RecordedEvent[]): void {
    const before = known;
    let isFileDue = false;
    // Another call may have applied some of them meanwhile.
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
      // Catch everything: a follower that stops here would miss every later pause.
      fault = error instanceof Error ? error.message : String(error);
      log.error({ error }, 'the accounts file cannot be used; the accounts stay as they were');
    }
  }

  /** Resolves when every change recorded before the call is in effect here. @throws StoreUnavailable */
  const catchUp = async (): Promise<void> =>
    apply(await Array.fromAsync(store.read(merchantAccountsStream, { from: next })));

  return {
    catchUp,
    /** Applies changes that other processes record, until the signal. Call `start` first. */
    async follow(signal: AbortSignal): Promise<void> {
      // Events appended during this read arrive by the subscription as well.
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
    of: (environment: Environment, account: string) => accountChangeOf(known, environment, account),
    /** The error of the accounts file when it was last read; undefined if there was none. */
    fileFault: () => fault,
  };
}

const inWords = ({ added, changed, removed }: FileDifferences): string =>
  `${added.length} added, ${changed.length} changed, ${removed.length} removed`;

const isRestored = (before: MerchantAccounts, after: MerchantAccounts): boolean =>
  before.restore?.restoredAt !== after.restore?.restoredAt;

/** The changes that lead from one state to the other. After a restore, all accounts start paused. */
function stateChanges(before: MerchantAccounts, after: MerchantAccounts): AccountChange[] {
  const from = isRestored(before, after) ? { ...after, changes: noAccountChanges.changes } : before;
  return [...after.changes.values()].filter(
    ({ environment, account, state }) =>
      (accountChangeOf(from, environment, account)?.state ?? 'active') !== state,
  );
}
