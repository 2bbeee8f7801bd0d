/** Carries out reconciliations: those that are due, and those that people request. One process does it for all. */
import { type Environment, type Accounts } from '@tollgate/core';
import { type ReconciliationRequest } from './reconciliation.ts';
import { isRetryable } from '@tollgate/service-kit';
import { type Journal, createJournal, requestReconciliation } from './journal.ts';
import {
  type RunDependencies,
  type RunEnd,
  refuseReconciliation,
  runReconciliation,
} from './reconciliation-run.ts';
import { dueDay, lastCompleteDay, recentDifferences } from './schedule.ts';
import { merchantAccountKey } from '@tollgate/accounts';

export interface ReconcilerDependencies extends RunDependencies {
  accounts: Pick<Accounts, 'all'>;
  /** Days after which a day is compared again. */
  reconciledAfterDays: readonly number[];
}

interface AccountName {
  environment: Environment;
  name: string;
}

export interface ReconciliationHealth {
  environment: Environment;
  account: string;
  /** `YYYY-MM-DD`; undefined until a day was compared completely after its end. */
  lastCompleteDay: string | undefined;
  /** Differences in the latest runs of today and of the two days before. */
  differences: number;
}

/** Polling interval for requests of people. @unit milliseconds */
const idleMs = 2_000;
/** Before a silent account is inquired again, doubled each time. @unit milliseconds */
const retryMsMin = 60_000;
const retryMsMax = 60 * 60_000;
/** Before a run continues that the store interrupted. @unit milliseconds */
const storeRetryMs = 10_000;

export function createReconciler(deps: ReconcilerDependencies) {
  const { accounts, clock } = deps;
  let journal: Journal | undefined;

  return {
    /** Runs until the signal is aborted and the pages under way have been recorded. */
    async run(signal: AbortSignal): Promise<void> {
      const own = createJournal(deps);
      await own.refresh();
      journal = own;
      const ended = new AbortController();
      const until = AbortSignal.any([signal, ended.signal]);
      try {
        await Promise.all([refuseUnknown(deps, own, until), runAccounts(deps, own, until)]);
      } finally {
        // If one fails permanently the others end as well, and all begin again.
        ended.abort();
        journal = undefined;
      }
    },
    /** Undefined while another process does the work. */
    health: (): readonly ReconciliationHealth[] | undefined => {
      const known = journal;
      return (
        known &&
        accounts.all().map(({ environment, name: account }) => {
          const days = known.daysOf(environment, account);
          const differences = recentDifferences(days, clock.now());
          return { environment, account, differences, lastCompleteDay: lastCompleteDay(days) };
        })
      );
    },
  };
}

/** The configured ones, even after operators change them: an account ends when none of its runs is under way. */
async function runAccounts(
  deps: ReconcilerDependencies,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  const running = new Map<string, { stop: AbortController; ended: Promise<void> }>();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  const begin = (account: AccountName) => {
    const stop = new AbortController();
    const ended = runAccount(deps, journal, account, AbortSignal.any([signal, stop.signal]));
    ended.catch(failed.reject);
    return { stop, ended };
  };
  while (!signal.aborted) {
    const accounts = new Map(
      deps.accounts.all().map((account) => [merchantAccountKey(account.environment, account.name), account]),
    );
    for (const [key, { stop }] of running) if (!accounts.has(key) && running.delete(key)) stop.abort();
    for (const [key, account] of accounts) if (!running.has(key)) running.set(key, begin(account));
    await Promise.race([deps.clock.sleep(idleMs, signal).catch(() => undefined), failed.promise]);
  }
  await Promise.all([...running.values()].map(({ ended }) => ended));
}

/** An account that hangs delays only its own runs, except those that a person requests meanwhile. */
async function runAccount(
  deps: ReconcilerDependencies,
  journal: Journal,
  account: AccountName,
  signal: AbortSignal,
): Promise<void> {
  const requests = requestsOf(journal, account);
  let retryMs = retryMsMin;
  while (!signal.aborted) {
    const end = await runNext(deps, journal, account, requests, signal).catch((error: unknown) => {
      logFailure(deps, account, error);
      return isRetryable(error) ? 'store-away' : 'interrupted';
    });
    let pauseMs = { ended: 0, idle: idleMs, 'store-away': storeRetryMs, interrupted: retryMs }[end];
    if (end === 'interrupted') retryMs = Math.min(2 * retryMs, retryMsMax);
    else if (end !== 'store-away') retryMs = retryMsMin;
    do {
      await deps.clock.sleep(Math.min(pauseMs, idleMs), signal).catch(() => undefined);
      pauseMs -= idleMs;
    } while (pauseMs > 0 && !signal.aborted && !requests.hasNew());
  }
}

/** The open requests of an account: first those of people that were not tried yet. */
function requestsOf(journal: Journal, { environment, name }: AccountName) {
  const tried = new Set<string>();
  const open = () => journal.openOf(environment, name);
  const newOne = () => open().find(({ by, token }) => by === 'person' && !tried.has(token));
  return {
    hasNew: () => newOne() !== undefined,
    take(): ReconciliationRequest | undefined {
      const request = newOne() ?? open()[0];
      if (request !== undefined) tried.add(request.token);
      return request;
    },
  };
}

/** An unavailable store or a rebuilding index is no fault of a reconciliation. */
function logFailure({ log }: ReconcilerDependencies, { name }: AccountName, error: unknown): void {
  const about = { error, account: name, operation: 'reconciliation' };
  const isPassing = isRetryable(error);
  log[isPassing ? 'warn' : 'error'](about, 'a reconciliation failed; it is continued');
}

async function runNext(
  deps: ReconcilerDependencies,
  journal: Journal,
  { environment, name: account }: AccountName,
  requests: ReturnType<typeof requestsOf>,
  signal: AbortSignal,
): Promise<'idle' | RunEnd> {
  await journal.refresh();
  const request = requests.take();
  if (request !== undefined) return runReconciliation(deps, request, signal);
  const day = dueDay(journal.daysOf(environment, account), deps.clock.now(), deps.reconciledAfterDays);
  if (day === undefined) return 'idle';
  await requestReconciliation(deps, { environment, account, day, isDryRun: false, by: 'schedule' });
  return 'ended';
}

async function refuseUnknown(
  deps: ReconcilerDependencies,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  const isKnown = ({ environment, account }: { environment: Environment; account: string }) =>
    deps.accounts.all().some((each) => each.environment === environment && each.name === account);
  while (!signal.aborted) {
    try {
      await journal.refresh();
      for (const request of journal.openOfOthers(isKnown)) await refuseReconciliation(deps, request);
    } catch (error) {
      deps.log.error({ error, operation: 'reconciliation' }, 'the journal of reconciliations failed');
    }
    await deps.clock.sleep(idleMs, signal).catch(() => undefined);
  }
}
