/** Carries out reconciliations: those that are due, and those that a person asks for. One process does it for all. */
import { type Environment, merchantAccountKey } from '@tollgate/payment-domain';
import { isRetryable } from '@tollgate/service-kit';
import type { Accounts } from '../accounts/accounts.ts';
import { type Journal, createJournal, requestReconciliation } from './journal.ts';
import { type RunDependencies, refuseReconciliation, runReconciliation } from './reconciliation-run.ts';
import { dueDay, lastCompleteDay, recentDifferences } from './schedule.ts';

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
  /** `YYYY-MM-DD`; undefined while no day was compared completely after its end. */
  lastCompleteDay: string | undefined;
  /** That the latest runs of today and of the two days before have found. */
  differences: number;
}

export interface Reconciler {
  /** Runs until the signal is aborted, and until the pages under way have been recorded. */
  run(signal: AbortSignal): Promise<void>;
  /** Undefined while another process does the work. */
  health(): readonly ReconciliationHealth[] | undefined;
}

/** How often what a person asks for is looked for, milliseconds. */
const idleMs = 2_000;
/** Before an account that gave no answer is asked again, milliseconds; doubled each time. */
const retryMsMin = 60_000;
const retryMsMax = 60 * 60_000;

export function createReconciler(deps: ReconcilerDependencies): Reconciler {
  const { accounts, clock } = deps;
  let journal: Journal | undefined;

  return {
    async run(signal) {
      const own = createJournal(deps);
      await own.refresh();
      journal = own;
      const ended = new AbortController();
      const until = AbortSignal.any([signal, ended.signal]);
      try {
        await Promise.all([refuseUnknown(deps, own, until), runAccounts(deps, own, until)]);
      } finally {
        // Where one fails for good the others end too, and all begin again.
        ended.abort();
        journal = undefined;
      }
    },
    health: () => {
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

/** Those that are configured, also when operators have changed which: it ends when none of its runs is under way any more. */
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

/** An account that hangs holds up its own runs only. */
async function runAccount(
  deps: ReconcilerDependencies,
  journal: Journal,
  account: AccountName,
  signal: AbortSignal,
): Promise<void> {
  let retryMs = retryMsMin;
  while (!signal.aborted) {
    let end: 'idle' | 'ended' | 'interrupted';
    try {
      end = await runNext(deps, journal, account, signal);
    } catch (error) {
      end = 'interrupted';
      logFailure(deps, account, error);
    }
    const pauseMs = end === 'ended' ? 0 : end === 'idle' ? idleMs : retryMs;
    retryMs = end === 'interrupted' ? Math.min(2 * retryMs, retryMsMax) : retryMsMin;
    await deps.clock.sleep(pauseMs, signal).catch(() => undefined);
  }
}

/** While the store is away or the index is being rebuilt, nothing is wrong with a reconciliation. */
function logFailure({ log }: ReconcilerDependencies, { name }: AccountName, error: unknown): void {
  const about = { error, account: name, operation: 'reconciliation' };
  const isPassing = isRetryable(error);
  log[isPassing ? 'warn' : 'error'](about, 'a reconciliation failed; it is continued');
}

async function runNext(
  deps: ReconcilerDependencies,
  journal: Journal,
  { environment, name: account }: AccountName,
  signal: AbortSignal,
): Promise<'idle' | 'ended' | 'interrupted'> {
  await journal.refresh();
  const open = journal.openOf(environment, account);
  if (open !== undefined) return runReconciliation(deps, open, signal);
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
