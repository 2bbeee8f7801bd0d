/** Reconciliations of the account `main`, with an index that lags until a spec lets it catch up. */
import { adoptPayments } from '@tollgate/adoption';
import { type AnySubject, creationOf, inquireNamed, stateOf, subjectsOf } from '@tollgate/core';
import { type Harness, type Instance, caller, times } from '@tollgate/core/testing';
import {
  type ReconcilerDependencies,
  type ReconciliationEvent,
  type ReconciliationReport,
  decodeReconciliationEvent,
  evolveReconciliationReport,
  reconciliationStream,
  requestReconciliation,
  runReconciliation,
} from '@tollgate/reconciliation';
import { silentLog, utcDayOf } from '@tollgate/service-kit';
import { createUnmatchedOperations, deriveUnmatchedToken } from '@tollgate/books';

export const minute = 60_000;
export const never = new AbortController().signal;

export interface Prepared {
  deps: ReconcilerDependencies;
  /** Reads all known operations again, and these for the first time. */
  catchUp(...tokens: string[]): Promise<void>;
}

export function useReconciliations(harness: () => Harness) {
  const today = () => utcDayOf(harness().clock.now());

  function prepare(instance: Instance = harness()): Prepared {
    const known = new Map<string, AnySubject>();
    const deps: ReconcilerDependencies = {
      ...instance,
      books: {
        find: (_, token) => known.get(token),
        findPayment: (_environment, _account, serviceToken) =>
          [...known.values()].find((each) => 'payment' in each && stateOf(each).serviceToken === serviceToken)
            ?.token,
        pagesOf: (operation, { account, day }) => [
          [...known.values()].filter(
            (each) =>
              operation in each && creationOf(each).account === account && utcDayOf(each.createdAt) === day,
          ),
        ],
      },
      reconciledAfterDays: [1, 2],
      log: silentLog,
      times,
      unmatched: createUnmatchedOperations(instance),
      inquireNamed: (...named) => inquireNamed(instance, ...named),
      soleTeamOf: () => caller.team,
    };
    async function catchUp(...tokens: string[]): Promise<void> {
      for (const token of [...known.keys(), ...tokens]) {
        const subject = await subjectsOf(instance, token).load(token);
        if (subject !== undefined) known.set(token, subject);
      }
    }
    return { deps, catchUp };
  }

  async function eventsOf(token: string): Promise<ReconciliationEvent[]> {
    const recorded = await Array.fromAsync(harness().store.read(reconciliationStream(token)));
    return recorded.map(decodeReconciliationEvent);
  }
  const reportOf = async (token: string): Promise<ReconciliationReport> =>
    (await eventsOf(token)).reduce(evolveReconciliationReport, undefined as never);

  /** Compares today's operations on a person's request, by default once they are older than the margin. */
  async function reconcile(
    { deps }: Pick<Prepared, 'deps'>,
    { isDryRun = false, signal = never, waitMs = minute } = {},
  ) {
    await harness().clock.advance(waitMs);
    const wanted = { environment: 'sandbox', account: 'main', day: today(), isDryRun, by: 'person' } as const;
    const request = await requestReconciliation(deps, wanted);
    const end = await harness().passTime(runReconciliation(deps, request, signal));
    return { ...(await reportOf(request.token)), end, token: request.token, request };
  }

  /** A payment of another system under our account. */
  function strange(serviceToken: string, changes: object = {}): void {
    harness().provider.payments.set(serviceToken, {
      serviceToken,
      status: 'approved',
      amount: 900,
      currency: 'EUR',
      orderNumber: 'elsewhere-1',
      authorizedAmount: 0,
      refundedAmount: 0,
      createdAt: harness().clock.now(),
      ...changes,
    });
  }
  const unmatchedToken = (serviceToken: string) =>
    deriveUnmatchedToken({ environment: 'sandbox', account: 'main', operation: 'payment', serviceToken });

  /** Adopts everything of the account for the team. @returns the tokens */
  async function adoptAll(): Promise<(string | undefined)[]> {
    const tokens: (string | undefined)[] = [];
    const actor = { kind: 'service', name: 'spec' } as const;
    await harness().passTime(
      adoptPayments(
        { ...harness(), findByServiceToken: async () => undefined, actor },
        {
          environment: 'sandbox',
          account: 'main',
          team: caller.team,
          wallet: `team-${caller.team}`,
          from: today(),
          to: today(),
          matches: () => true,
          isDryRun: false,
        },
        { signal: never, onDay: () => undefined, onRow: ({ token }) => void tokens.push(token) },
      ),
    );
    return tokens;
  }

  return { today, prepare, reconcile, eventsOf, reportOf, strange, unmatchedToken, adoptAll };
}
