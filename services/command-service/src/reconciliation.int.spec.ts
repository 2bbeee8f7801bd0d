import {
  createJournal,
  createReconciler,
  reconciliationJournal,
  requestReconciliation,
  runReconciliation,
} from '@tollgate/reconciliation';
import { creationOf, pageRows, subjectsOf } from '@tollgate/core';
import { StoreUnavailable } from '@tollgate/event-store';
import {
  accountNamed,
  caller,
  createFakeProvider,
  payoutFor,
  teaFor,
  useHarness,
} from '@tollgate/core/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Prepared, minute, never, useReconciliations } from './testing/reconciling.ts';

const hung = { provider: createFakeProvider() };
const harness = useHarness(() => {
  hung.provider = createFakeProvider();
  hung.provider.answersInquiries = false;
  return { moreAccounts: [accountNamed('hung', hung.provider.provider, { priority: 1 })] };
});
const { today, prepare, reconcile, eventsOf, reportOf, strange, unmatchedToken, adoptAll } =
  useReconciliations(harness);

const numberOf = async (token: string) => {
  const subject = await subjectsOf(harness(), token).load(token);
  if (subject === undefined) throw new Error(`there is no ${token}`);
  return creationOf(subject).providerOrderNumber;
};
const change = async (
  token: string,
  changes: Parameters<ReturnType<typeof harness>['provider']['change']>[1],
) => harness().provider.change(await numberOf(token), changes);
const paymentOf = async (token: string) => (await harness().payments.load(token))?.payment;

describe('an operation on both sides', () => {
  it('is matched and summed up', async () => {
    const prepared = prepare();
    const paid = await harness().approved('order-1', 700);
    const payout = await harness().payOut(payoutFor('payout-1'));
    const payoutToken = payout.kind === 'refused' ? '' : 'aggregate' in payout ? payout.aggregate.token : '';
    await harness().inquire(payoutToken);
    await prepared.catchUp(paid, payoutToken);
    const { end, counts, sums, ended, differences } = await reconcile(prepared);
    expect(end).toBe('ended');
    expect(counts).toMatchObject({ matched: 2, differing: 0, onlyHere: 0, onlyAtService: 0 });
    expect(sums).toMatchObject([
      {
        currency: 'EUR',
        paymentsHere: 700,
        paymentsThere: 700,
        refundsHere: 0,
        refundsThere: 0,
        payoutsHere: 500,
        payoutsThere: 500,
      },
    ]);
    expect([ended, differences]).toMatchObject([{ outcome: 'complete', team: caller.team }, []]);
  });

  it('is matched by the recorded events if the index lags', async () => {
    const prepared = prepare();
    await harness().approved('order-1');
    expect((await reconcile(prepared)).counts).toMatchObject({ matched: 1, onlyAtService: 0 });
  });
});

// An expired payment was revised to approved while its callback was lost; another one was refunded in the provider's console.
// They were never inquired again: the gateway showed `expired` and
// `approved` without end.
describe('an operation that differs', () => {
  it.each([
    ['a refund made in the console', { refundedAmount: 40 }, { refundedAmount: 40 }],
    ['a whole refund', { status: 'refunded', refundedAmount: 100 }, { phase: 'refunded' }],
  ])('is inquired: %s', async (_, there, here) => {
    const prepared = prepare();
    const token = await harness().approved('order-1', 100);
    await prepared.catchUp(token);
    await change(token, there);
    const { counts, differences } = await reconcile(prepared);
    expect(counts).toMatchObject({ matched: 0, differing: 1 });
    expect(differences).toMatchObject([
      { kind: 'differs', token, here: { status: 'approved' }, isSettled: true },
    ]);
    expect(await paymentOf(token)).toMatchObject(here);
    await prepared.catchUp();
    expect((await reconcile(prepared)).counts).toMatchObject({ matched: 1, differing: 0 });
  });

  it('is in review, and matched no longer by the next run, if it contradicts reported money', async () => {
    const prepared = prepare();
    const token = await harness().approved('order-1', 100);
    await prepared.catchUp(token);
    await change(token, { status: 'declined' });
    for (let run = 0; run < 2; run += 1)
      expect((await reconcile(prepared)).differences).toMatchObject([{ kind: 'differs', isSettled: true }]);
    expect(await paymentOf(token)).toMatchObject({
      phase: 'approved',
      reviews: [{ number: 1, evidence: { kind: 'final_status_revised', observedStatus: 'declined' } }],
    });
  });

  it('changes nothing in a dry run', async () => {
    const prepared = prepare();
    const token = await harness().approved('order-1', 100);
    const gone = await harness().approved('order-2', 200);
    await prepared.catchUp(token, gone);
    await change(token, { refundedAmount: 40 });
    harness().provider.payments.delete((await paymentOf(gone))?.serviceToken ?? '');
    strange('service-x');
    const before = [await harness().history(token), await harness().history(gone)];
    const { counts, differences } = await reconcile(prepared, { isDryRun: true });
    expect(counts).toMatchObject({ differing: 1, onlyHere: 1, onlyAtService: 1 });
    expect(differences.map(({ isSettled }) => isSettled)).toEqual([false, false, false]);
    expect([await harness().history(token), await harness().history(gone)]).toEqual(before);
    expect(await prepared.deps.unmatched.load(unmatchedToken('service-x'))).toBeUndefined();
  });

  it('because a call is under way is left to the next run', async () => {
    const prepared = prepare();
    const created = await harness().create(teaFor('order-1'));
    const token = 'aggregate' in created ? created.aggregate.token : '';
    await prepared.catchUp(token);
    harness().provider.beforePage = async () => {
      harness().provider.beforePage = async () => {};
      await harness().clock.advance(1);
      await change(token, { status: 'approved' });
      await harness().inquire(token);
      await change(token, { status: 'pending' });
    };
    expect((await reconcile(prepared)).counts).toMatchObject({ underWay: 1, differing: 0 });
  });

  it('under our number, and with another token, is inquired by that token', async () => {
    const prepared = prepare();
    const token = await harness().approved('order-1', 100);
    await prepared.catchUp(token);
    strange('service-twin', { orderNumber: await numberOf(token) });
    const { counts, differences } = await reconcile(prepared);
    expect(counts).toMatchObject({ matched: 1, differing: 1 });
    expect(differences).toMatchObject([
      { kind: 'another_token', token, serviceToken: 'service-twin', isSettled: true },
    ]);
    expect((await paymentOf(token))?.reviews).toMatchObject([{ evidence: { kind: 'second_payment_found' } }]);
  });
});

describe('an operation on one side', () => {
  // Adopted payments have the team's own number: each was taken for a foreign one, and opened a review.
  it('that was made before Tollgate is matched once it is adopted, and its review is resolved', async () => {
    const prepared = prepare();
    const { catchUp } = prepared;
    strange('elsewhere', { refundedAmount: 300 });
    expect(await reconcile(prepared)).toMatchObject({ counts: { onlyAtService: 1 } });
    const reviewsOf = async () =>
      (await prepared.deps.unmatched.load(unmatchedToken('elsewhere')))?.unmatched.reviews;
    expect(await reviewsOf()).toHaveLength(1);
    const [adopted = ''] = await adoptAll();
    expect(await reviewsOf()).toEqual([]);
    const matchedOnly = { matched: 1, differing: 0, onlyAtService: 0, onlyHere: 0 };
    expect(await reconcile(prepared)).toMatchObject({ counts: matchedOnly });
    // Whether or not the index has it by then.
    await catchUp(adopted);
    expect(await reconcile(prepared)).toMatchObject({ counts: matchedOnly });
  });

  it('our books alone opens a review, once an inquiry has found nothing', async () => {
    const prepared = prepare();
    const token = await harness().approved('order-1', 100);
    await prepared.catchUp(token);
    harness().provider.payments.clear();
    const { counts, differences, sums } = await reconcile(prepared);
    expect(counts).toMatchObject({ onlyHere: 1, matched: 0 });
    expect(differences).toMatchObject([{ kind: 'only_here', token, here: { amount: 100 } }]);
    expect(sums).toMatchObject([{ paymentsHere: 100, paymentsThere: 0 }]);
    expect((await paymentOf(token))?.reviews).toMatchObject([{ evidence: { kind: 'only_here' } }]);
  });

  it('is not missing if the provider shows it under another day, or if it is too young', async () => {
    const prepared = prepare();
    const token = await harness().approved('order-1', 100);
    await change(token, { createdAt: harness().clock.now() + 24 * 60 * minute });
    await prepared.catchUp(token);
    expect((await reconcile(prepared)).counts).toMatchObject({ onOtherDays: 1, onlyHere: 0 });
    harness().provider.beforePage = async ({ page }) => {
      if (page > 1 || harness().provider.payments.size > 1) return;
      const young = await harness().approved('order-2', 100);
      harness().provider.payments.delete((await paymentOf(young))?.serviceToken ?? '');
      await prepared.catchUp(young);
      strange('service-young');
    };
    expect((await reconcile(prepared)).counts).toMatchObject({ underWay: 2, onlyHere: 0, onlyAtService: 0 });
  });

  it('is hidden if payments of another team were compared', async () => {
    const prepared = prepare();
    await harness().approved('order-1', 100);
    prepared.deps.soleTeamOf = () => 'games';
    expect((await reconcile(prepared)).ended).toEqual({ outcome: 'complete', endedAt: expect.any(Number) });
  });
});

describe('a list of several pages', () => {
  const rows = 2 * pageRows + 10;
  const fill = () => {
    for (let row = 0; row < rows; row += 1) strange(`row-${row}`, { status: 'declined' });
  };

  it('that grows while it is read is compared whole, and each row once', async () => {
    const prepared = prepare();
    fill();
    let added = 0;
    harness().provider.beforePage = async ({ page }) => {
      // Ten more at the front of the list move the rows of this page to the next one.
      if (page === 2 && added === 0) while (added < 10) strange(`row-new-${(added += 1)}`);
    };
    const { counts, ended, token } = await reconcile(prepared, { isDryRun: true });
    const { onlyAtService, underWay } = counts;
    expect([onlyAtService, underWay, ended?.outcome]).toEqual([rows, 10, 'complete']);
    const pages = (await eventsOf(token)).flatMap(({ type, data }) =>
      type === 'PageCompared' && data.operation === 'payment' ? [[data.pass, data.page]] : [],
    );
    expect(pages).toEqual([
      [1, 1],
      [1, 2],
      [1, 3],
      [2, 1],
    ]);
  });

  it('of which some are never shown is not complete', async () => {
    const prepared = prepare();
    const { provider } = harness().provider;
    const shown = provider.pageOfPayments;
    strange('row-1');
    provider.pageOfPayments = async (query) => {
      const outcome = await shown(query);
      return outcome.kind === 'accepted' ? { ...outcome, answer: { ...outcome.answer, total: 2 } } : outcome;
    };
    expect((await reconcile(prepared, { isDryRun: true })).ended).toMatchObject({ outcome: 'incomplete' });
  });

  it('without a count ends with a page that has nothing new', async () => {
    const prepared = prepare();
    const { provider } = harness().provider;
    const shown = provider.pageOfPayments;
    strange('row-1');
    // It ignores the number of the page.
    provider.pageOfPayments = async (query) => {
      const outcome = await shown({ ...query, page: 1 });
      return outcome.kind === 'accepted' ? { ...outcome, answer: { found: outcome.answer.found } } : outcome;
    };
    const { counts, ended } = await reconcile(prepared, { isDryRun: true });
    expect([counts.onlyAtService, ended?.outcome]).toEqual([1, 'complete']);
  });

  it('continues at its page after a kill', async () => {
    const prepared = prepare();
    fill();
    const paid = await harness().approved('order-1', 100);
    await prepared.catchUp(paid);
    const dying = new AbortController();
    harness().provider.beforePage = async ({ page }) => {
      if (page === 2) dying.abort();
    };
    const { end, request } = await reconcile(prepared, { isDryRun: true, signal: dying.signal });
    expect([end, harness().provider.pagesRead]).toEqual(['interrupted', 2]);
    const again = prepare(harness().startInstance());
    await again.catchUp(paid);
    expect(await harness().passTime(runReconciliation(again.deps, request, never))).toBe('ended');
    const { counts } = await reportOf(request.token);
    expect([counts.onlyAtService, counts.matched, counts.onlyHere]).toEqual([rows, 1, 0]);
    // Of payments the page that was not recorded and the last one, and the empty list of payouts.
    expect(harness().provider.pagesRead).toBe(2 + 3);
  });

  it('does not count as compared if none of it could be inquired', async () => {
    const prepared = prepare();
    const token = await harness().approved('order-1', 100);
    await prepared.catchUp(token);
    await change(token, { refundedAmount: 40 });
    const { inquire } = prepared.deps;
    prepared.deps.inquire = async () => 'not-asked';
    const silent = await reconcile(prepared);
    expect((await eventsOf(silent.token)).map(({ type }) => type)).toEqual([
      ...['ReconciliationStarted', 'ReconciliationInterrupted'],
    ]);
    const stopping = new AbortController();
    prepared.deps.inquire = async () => {
      stopping.abort();
      return 'failed';
    };
    const { end } = await reconcile(prepared, { signal: stopping.signal });
    expect([silent.end, end]).toEqual(['interrupted', 'interrupted']);
    prepared.deps.inquire = inquire;
    expect(await harness().passTime(runReconciliation(prepared.deps, silent.request, never))).toBe('ended');
    expect((await reportOf(silent.token)).counts).toMatchObject({ differing: 1 });
    expect(await paymentOf(token)).toMatchObject({ refundedAmount: 40 });
  });

  // One unreadable row made its page unreadable: the run of that day was repeated without end, and no other day of the account
  // was ever compared.
  it('ends incompletely if a page cannot be read repeatedly, so that other days are compared', async () => {
    const prepared = prepare();
    const { provider } = harness().provider;
    const shown = provider.pageOfPayments;
    onTestFinished(() => void (provider.pageOfPayments = shown));
    provider.pageOfPayments = async () => ({ kind: 'unknown', reason: 'success without readable payments' });
    const { request } = await reconcile(prepared);
    const ends: string[] = [];
    for (let go = 0; go < 8; go += 1)
      ends.push(await harness().passTime(runReconciliation(prepared.deps, request, never)));
    expect(ends).toEqual([...Array<string>(7).fill('interrupted'), 'ended']);
    expect((await reportOf(request.token)).ended).toMatchObject({ outcome: 'incomplete' });
    provider.pageOfPayments = shown;
    expect((await reconcile(prepared)).ended).toMatchObject({ outcome: 'complete' });
  });

  it('is compared by one process: another one that continues with it ends', async () => {
    const prepared = prepare();
    fill();
    harness().provider.beforePage = async ({ page }) => {
      if (page !== 2) return;
      harness().provider.beforePage = async () => {};
      const [requested] = await Array.fromAsync(harness().store.read(reconciliationJournal));
      await runReconciliation(prepared.deps, requested!.data as never, never);
    };
    await expect(reconcile(prepared, { isDryRun: true })).rejects.toThrow('another process has taken over');
  });
});

describe('the reconciler', () => {
  /** Runs until a spec has seen enough. */
  function start(prepared: Prepared) {
    const stopping = new AbortController();
    const reconciler = createReconciler(prepared.deps);
    const running = reconciler.run(stopping.signal);
    const stop = async () => {
      stopping.abort();
      await running;
    };
    onTestFinished(stop);
    return { reconciler, stop };
  }
  /** Advances simulated time until a condition holds. */
  async function until(isSo: () => boolean | Promise<boolean>) {
    await harness().passTime(
      (async () => {
        while (!(await isSo())) await harness().clock.sleep(500);
      })(),
    );
  }
  const daysRead = (pages: readonly string[]) => [...new Set(pages)].sort();
  /** Half an hour before midnight: the hours before would be simulated second by second. */
  const toLateEvening = () => harness().clock.advance(23.5 * 60 * minute);

  it('compares today hourly, and the days before again each', async () => {
    await toLateEvening();
    const prepared = prepare();
    const read: string[] = [];
    harness().provider.beforePage = async ({ from }) => void read.push(from);
    const { reconciler } = start(prepared);
    await until(() => reconciler.health()?.[0]?.differences === 0 && read.length >= 2);
    const first = today();
    expect(daysRead(read)).toEqual([first]);
    // Includes runs that have begun by its end: they may be over before it is.
    read.length = 0;
    await harness().clock.advance(60 * minute);
    await until(() => reconciler.health()?.[0]?.lastCompleteDay === first && read.includes(today()));
    expect(daysRead(read)).toEqual([first, today()]);
  });

  it('is delayed by an account that hangs only for that account', async () => {
    await toLateEvening();
    const prepared = prepare();
    const first = today();
    const { reconciler } = start(prepared);
    const health = (account: string) => reconciler.health()?.find((each) => each.account === account);
    await until(() => harness().provider.pagesRead >= 2);
    await harness().clock.advance(60 * minute);
    await until(() => health('main')?.lastCompleteDay === first);
    expect(health('hung')).toMatchObject({ lastCompleteDay: undefined });
    hung.provider.answersInquiries = true;
    await until(() => health('hung')?.lastCompleteDay === first);
  });

  // An interrupted run put the account's loop to sleep for a minute, later for an hour, and a run that a person requested
  // meanwhile waited as well: `tollgate reconcile` gave up after 20 seconds.
  it('begins a run that a person requests while an interrupted run waits for its next try', async () => {
    const { deps } = prepare();
    start({ deps, catchUp: async () => undefined });
    const journal = createJournal(harness());
    const scheduled = () => journal.openOf('sandbox', 'hung')[0]?.token ?? '';
    const interruptions = async () =>
      (await eventsOf(scheduled())).filter(({ type }) => type === 'ReconciliationInterrupted').length;
    await until(async () =>
      journal
        .refresh()
        .then(interruptions)
        .then((count) => count >= 3),
    );
    hung.provider.answersInquiries = true;
    const wanted = { environment: 'sandbox', account: 'hung', day: today(), isDryRun: true } as const;
    const { token } = await requestReconciliation(deps, { ...wanted, by: 'person' });
    const askedAt = harness().clock.now();
    await until(async () => (await eventsOf(token)).length > 0);
    expect(harness().clock.now() - askedAt).toBeLessThan(10_000);
  });

  // Each of six outages of the store doubled the pause of the account, which had answered all the time.
  it('continues soon after an outage of the store, however often', async () => {
    const { deps } = prepare();
    let failures = 0;
    const append: typeof deps.store.append = (stream, ...rest) => {
      if (!stream.startsWith('reconciliation-') || failures === 6)
        return harness().store.append(stream, ...rest);
      failures += 1;
      return Promise.reject(
        new StoreUnavailable('store_unreachable', 'The event store did not confirm the append.'),
      );
    };
    deps.store = { ...harness().store, append };
    const { reconciler } = start({ deps, catchUp: async () => undefined });
    const startedAt = harness().clock.now();
    await until(() => reconciler.health()?.[0]?.differences === 0 && harness().provider.pagesRead >= 2);
    expect(failures).toBe(6);
    expect(harness().clock.now() - startedAt).toBeLessThan(2 * minute);
  });
});

// Each account had its own loop from the start on: one that was added later was never compared.
it('includes accounts that operators have added, and excludes those they have removed', async () => {
  const { deps } = prepare();
  const { accounts } = harness().inside;
  const configured = accounts.all();
  const stopping = new AbortController();
  const reconciler = createReconciler(deps);
  const running = reconciler.run(stopping.signal);
  const outcomeFor = async (account: string) => {
    const wanted = { environment: 'sandbox', account, day: today(), isDryRun: false, by: 'person' } as const;
    const { token } = await requestReconciliation(deps, wanted);
    const reported = async () => {
      for (;;) {
        const ended = (await eventsOf(token)).find(({ type }) => type === 'ReconciliationEnded');
        if (ended?.type === 'ReconciliationEnded') return ended.data.outcome;
        await harness().clock.sleep(1_000);
      }
    };
    return harness().passTime(reported());
  };
  accounts.configure([...configured, accountNamed('added', harness().provider.provider)]);
  expect(await outcomeFor('added')).toBe('complete');
  accounts.configure(configured);
  await harness().clock.advance(5_000);
  expect(await outcomeFor('added')).toBe('account_unknown');
  stopping.abort();
  await running;
});
