/** Carries out reconciliations: those that are due, and those that people request. One process does it for all. */
import { type Environment, type Accounts } from '@tollgate/core';
import { type ReconciliationRequest } from './reconciliation.ts';
import { isRetryable, omitUndefined } from '@tollgate/service-kit';
import { type Journal, createJournal, requestReconciliation } from './journal.ts';
import { type RunDependencies, refuseReconciliation, runReconciliation } from './reconciliation-run.ts';
import { dueDay, lastCompleteDay, recentDifferences } from './schedule.ts';
import { merchantAccountKey } from '@tollgate/accounts';

export interface ReconcilerDependencies extends RunDependencies {
  accounts: Pick<Accounts, 'all'>;
  /** Days after which a day is compared again. */
  reconciledAfterDays: readonly number[];
}

export interface ReconciliationHealth {
  environment: Environment;
  account: string;
  /** `YYYY-MM-DD`; undefined until a day was compared completely after its end. */
  lastCompleteDay: string | undefined;
  /** Differences in the latest runs of today and of the two days before. */
  differences: number;
}

/** Between two looks at the journal and the accounts. @unit milliseconds */
const idleMs = 2_000;
/** Before a silent account is inquired again, doubled each time. @unit milliseconds */
const retryMsMin = 60_000;
const retryMsMax = 60 * 60_000;
/** Before work continues that the store interrupted. @unit milliseconds */
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
      await runAccounts(deps, own, signal).finally(() => (journal = undefined));
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

/** One run at a time: an account that hangs delays no other. */
interface Lane {
  /** Requests of people that were tried: a new one does not wait for the next try of another run. */
  tried: Set<string>;
  /** No other run begins earlier, by the monotonic clock. */
  nextAt: number;
  retryMs: number;
  underWay?: { stop: AbortController; ended: Promise<void> } | undefined;
}

/** For the configured accounts, even after operators change them. */
async function runAccounts(
  deps: ReconcilerDependencies,
  journal: Journal,
  signal: AbortSignal,
): Promise<void> {
  const lanes = new Map<string, Lane>();
  const running = () => [...lanes.values()].flatMap(({ underWay }) => underWay?.ended ?? []);
  while (!signal.aborted) {
    let pauseMs = idleMs;
    try {
      await journal.refresh();
      if (await beginRuns(deps, journal, lanes, signal)) continue;
    } catch (error) {
      logFailure(deps, error);
      pauseMs = storeRetryMs;
    }
    await Promise.race([deps.clock.sleep(pauseMs, signal).catch(() => undefined), ...running()]);
  }
  await Promise.all(running());
}

/** True if it has requested runs that are due: they begin once they are read from the journal. */
async function beginRuns(
  deps: ReconcilerDependencies,
  journal: Journal,
  lanes: Map<string, Lane>,
  signal: AbortSignal,
): Promise<boolean> {
  const { clock } = deps;
  const accounts = new Map(
    deps.accounts.all().map((each) => [merchantAccountKey(each.environment, each.name), each]),
  );
  const isKnown = ({ environment, account }: Pick<ReconciliationRequest, 'environment' | 'account'>) =>
    accounts.has(merchantAccountKey(environment, account));
  for (const request of journal.openOfOthers(isKnown)) await refuseReconciliation(deps, request);
  for (const [key, { underWay }] of lanes) if (!accounts.has(key)) underWay?.stop.abort();
  let hasRequested = false;
  for (const [key, { environment, name: account }] of accounts) {
    const lane = lanes.get(key) ?? { tried: new Set(), nextAt: 0, retryMs: retryMsMin };
    lanes.set(key, lane);
    if (lane.underWay !== undefined) continue;
    const isWaiting = clock.monotonic() < lane.nextAt;
    const open = journal.openOf(environment, account);
    const isNew = ({ by, token }: ReconciliationRequest) => by === 'person' && !lane.tried.has(token);
    const request = open.find(isNew) ?? (isWaiting ? undefined : open[0]);
    if (request !== undefined) begin(deps, lane, request, signal);
    if (request !== undefined || isWaiting) continue;
    const day = dueDay(journal.daysOf(environment, account), clock.now(), deps.reconciledAfterDays);
    if (day === undefined) continue;
    await requestReconciliation(deps, { environment, account, day, isDryRun: false, by: 'schedule' });
    hasRequested = true;
  }
  return hasRequested;
}

function begin(
  deps: ReconcilerDependencies,
  lane: Lane,
  request: ReconciliationRequest,
  signal: AbortSignal,
): void {
  const stop = new AbortController();
  lane.tried.add(request.token);
  const ended = runReconciliation(deps, request, AbortSignal.any([signal, stop.signal]))
    .catch((error: unknown) => {
      logFailure(deps, error, request.account);
      return isRetryable(error) ? 'store-away' : 'interrupted';
    })
    .then((end) => {
      const pauseMs = { ended: 0, 'store-away': storeRetryMs, interrupted: lane.retryMs }[end];
      lane.nextAt = deps.clock.monotonic() + pauseMs;
      if (end === 'interrupted') lane.retryMs = Math.min(2 * lane.retryMs, retryMsMax);
      if (end === 'ended') lane.retryMs = retryMsMin;
      lane.underWay = undefined;
    });
  lane.underWay = { stop, ended };
}

/** An unavailable store or a rebuilding index is no fault of a reconciliation. */
function logFailure({ log }: ReconcilerDependencies, error: unknown, account?: string): void {
  const about = { error, operation: 'reconciliation', ...omitUndefined({ account }) };
  log[isRetryable(error) ? 'warn' : 'error'](about, 'a reconciliation failed; it is continued');
}
