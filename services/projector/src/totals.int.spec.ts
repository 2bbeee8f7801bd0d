import { createEmbeddedEventStore, type EventStore } from '@tollgate/event-store';
import { temporaryFile, temporaryStore } from '@tollgate/event-store/testing';
import {
  contributionOf,
  kindOfStream,
  totalsCheckpointStreamOf,
  totalsPrefixOf,
  type PaymentView,
  type PayoutView,
  type TotalsView,
} from '@tollgate/views';
import {
  anyHistory,
  anyPayoutHistory,
  happening,
  payoutHappening,
  payoutRequested,
  requested,
  type AnyEvent,
} from '@tollgate/views/testing';
import { appendEvents, appendPayment, foldStored, storedTexts } from '@tollgate/view-index/testing';
import { silentLog, systemClock, systemIds, type Log } from '@tollgate/service-kit';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { createTotalsProjector, type ProjectorOptions } from './projector.ts';
import { failing, projected, soon, sorted } from './testing/projected.ts';

const { accepted, approved, declined, held, refunding, refundApproved, refundedElsewhere, revised } =
  happening;

/** One life of a process: it ends when all is projected, or at the first failure unless it survives that. */
async function runUntilCrashOrEnd(
  store: EventStore,
  { survives = false, ...options }: Partial<ProjectorOptions> & { survives?: boolean } = {},
): Promise<void> {
  const ending = new AbortController();
  const log: Log = { ...silentLog, error: () => (survives ? undefined : ending.abort()) };
  const clock = { ...systemClock, sleep: () => Promise.resolve() };
  const projector = createTotalsProjector({ store, clock, ids: systemIds, log, ...options });
  const running = projector.run(ending.signal);
  await Promise.race([running, projected(store, projector)]);
  ending.abort();
  await running;
}

const textsOf = (store: EventStore, viewVersion = 1) => storedTexts(store, [totalsPrefixOf(viewVersion)]);

async function totalsIn(store: EventStore): Promise<Record<string, TotalsView>> {
  const texts = sorted(await textsOf(store));
  return Object.fromEntries(texts.map(([stream, text]) => [stream, JSON.parse(text) as TotalsView]));
}

const sums = (counts: Record<string, [count: number, amount: number]>) =>
  Object.fromEntries(
    Object.entries(counts).map(([name, [count, amount]]) => [name, { count, amount: String(amount) }]),
  );

const eurOfShop = 'view_totals-sandbox-shop-EUR-2026-01-02';

describe('totals', () => {
  test('are one document per environment, team, currency and day, with payments and payouts in it', async () => {
    const store = await temporaryStore();
    await appendPayment(store, 'p1', [requested(), accepted, approved]);
    await appendPayment(store, 'p2', [requested(), accepted, declined]);
    await appendPayment(store, 'p3', [requested({ currency: 'USD' })]);
    await appendPayment(store, 'p4', [requested({ team: 'games' }), accepted]);
    await appendPayment(store, 'p5', [requested({ environment: 'production' })]);
    await appendEvents(store, 'payout-o1', [payoutRequested(), payoutHappening.accepted]);
    await runUntilCrashOrEnd(store);
    const totals = await totalsIn(store);
    expect(Object.keys(totals)).toEqual([
      'view_totals-production-shop-EUR-2026-01-02',
      'view_totals-sandbox-games-EUR-2026-01-02',
      eurOfShop,
      'view_totals-sandbox-shop-USD-2026-01-02',
    ]);
    const eur = totals[eurOfShop]!;
    expect(eur).toMatchObject({
      ...{ environment: 'sandbox', team: 'shop', currency: 'EUR', day: '2026-01-02' },
      payments: sums({ init: [0, 0], approved: [1, 1_500], declined: [1, 1_500] }),
      refunds: sums({ confirmed: [0, 0], reserved: [0, 0] }),
      payouts: sums({ pending: [1, 300] }),
    });
  });

  test('follow a payment from status to status, and what is given back of it', async () => {
    const store = await temporaryStore();
    const step = async (...events: Parameters<typeof appendPayment>[2]) => {
      await appendPayment(store, 'p1', events);
      await runUntilCrashOrEnd(store);
      return (await totalsIn(store))[eurOfShop]!;
    };
    expect((await step(requested(), accepted)).payments).toMatchObject(sums({ init: [1, 1_500] }));
    expect((await step(held)).payments).toMatchObject(sums({ init: [0, 0], pending: [1, 1_500] }));
    expect((await step(declined)).payments).toMatchObject(sums({ pending: [0, 0], declined: [1, 1_500] }));
    // The service contradicts itself, and with another amount.
    expect((await step(revised)).payments).toMatchObject(sums({ declined: [0, 0], approved: [1, 1_400] }));
    expect((await step(refunding)).refunds).toEqual(sums({ confirmed: [0, 0], reserved: [1, 500] }));
    expect((await step(refundApproved)).refunds).toEqual(sums({ confirmed: [1, 500], reserved: [0, 0] }));
    const end = await step({ ...refundedElsewhere, data: { amount: 900 } });
    expect(end.refunds).toEqual(sums({ confirmed: [1, 1_400], reserved: [0, 0] }));
    expect(end.payments).toMatchObject(sums({ approved: [0, 0], refunded: [1, 1_400] }));
  });

  test('stay exact beyond the largest safe integer', async () => {
    const store = await temporaryStore();
    const huge = { ...approved, data: { amount: Number.MAX_SAFE_INTEGER } };
    for (const token of ['p1', 'p2', 'p3']) await appendPayment(store, token, [requested(), accepted, huge]);
    await runUntilCrashOrEnd(store);
    const { payments } = (await totalsIn(store))[eurOfShop]!;
    expect(payments.approved.amount).toBe((3n * BigInt(Number.MAX_SAFE_INTEGER)).toString());
  });

  test('go on without a payment that cannot be read, and say so', async () => {
    const store = await temporaryStore();
    const poison = { type: 'PaymentForgotten', data: {} };
    await appendEvents(store, 'payment-p1', [requested(), accepted, poison, approved]);
    await appendPayment(store, 'p2', [requested(), accepted, approved]);
    const error = vi.fn<Log['error']>();
    const log = { ...silentLog, error };
    const projector = createTotalsProjector({ store, clock: systemClock, ids: systemIds, log });
    await projector.start();
    await projected(store, projector);
    await projector.stop();
    expect(projector.health().failedStreams).toEqual([
      { stream: 'payment-p1', revision: 2, code: 'event_undecodable' },
    ]);
    expect(error).toHaveBeenCalledOnce();
    expect((await totalsIn(store))[eurOfShop]!.payments).toMatchObject(
      sums({ init: [1, 1_500], approved: [1, 1_500] }),
    );
  });
});

describe('incrementally, through crashes and restarts, with events that come again', () => {
  interface Step {
    stream: string;
    count: number;
    /** What befalls the n-th append of the projector after this step. */
    crash: { at: number; when: 'before' | 'after'; survives: boolean } | undefined;
  }

  const streams = ['payment-x1', 'payment-x2', 'payment-x3', 'payout-x1', 'payout-x2'];
  const anyStep: fc.Arbitrary<Step> = fc.record({
    stream: fc.constantFrom(...streams),
    count: fc.integer({ min: 1, max: 6 }),
    crash: fc.option(
      fc.record({
        at: fc.nat(3),
        when: fc.constantFrom('before' as const, 'after' as const),
        survives: fc.boolean(),
      }),
      { nil: undefined },
    ),
  });

  test('the totals are those of the payments and payouts as they are, and as rebuilt, byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.tuple(anyHistory, anyHistory, anyHistory, anyPayoutHistory, anyPayoutHistory),
        fc.array(anyStep, { minLength: 2, maxLength: 7 }),
        async (histories, steps) => {
          const store = await createEmbeddedEventStore({ file: await temporaryFile() });
          const left = new Map<string, AnyEvent[]>(
            streams.map((stream, index) => [stream, [...histories[index]!]]),
          );
          for (const { stream, count, crash } of steps) {
            const events = left.get(stream)!.splice(0, count);
            if (events.length > 0) await appendEvents(store, stream, events);
            let appends = -1;
            const crashing = failing(store, () => ((appends += 1) === crash?.at ? crash.when : undefined));
            // A memory of one: what a payment has added so far is found out again all the time.
            const survives = crash?.survives ?? false;
            await runUntilCrashOrEnd(crashing, { survives, batchEventsMax: 2, cachedViewsMax: 1 });
          }
          await runUntilCrashOrEnd(store);
          const begun = streams.filter(
            (stream, index) => left.get(stream)!.length < histories[index]!.length,
          );
          expect(await linesOfTotals(store)).toEqual(await linesOfViews(store, begun));
          await runUntilCrashOrEnd(store, { viewVersion: 2 });
          const rebuilt = sorted(await textsOf(store, 2)).map(([, text]) => text);
          expect(sorted(await textsOf(store)).map(([, text]) => text)).toEqual(rebuilt);
          await store.close();
        },
      ),
      { numRuns: 10 },
    );
  });

  type Lines = Record<string, { count: number; amount: string }>;

  async function linesOfTotals(store: EventStore): Promise<Lines> {
    const lines: Lines = {};
    for (const { payments, refunds, payouts } of Object.values(await totalsIn(store)))
      for (const [group, ofGroup] of Object.entries({ payments, refunds, payouts }))
        for (const [name, sum] of Object.entries(ofGroup))
          if (sum.count > 0 || sum.amount !== '0') lines[`${group} ${name}`] = sum;
    return lines;
  }

  /** Summed up from the documents of now: nothing is known here of what came before. */
  async function linesOfViews(store: EventStore, begun: readonly string[]): Promise<Lines> {
    const lines: Lines = {};
    for (const stream of begun) {
      const kind = kindOfStream(stream)!;
      const view = await foldStored(store, kind, stream.slice(kind.streamPrefix.length));
      for (const { group, name, amount } of contributionOf(view as PaymentView | PayoutView).lines) {
        const sum = lines[`${group} ${name}`] ?? { count: 0, amount: '0' };
        const next = { count: sum.count + 1, amount: String(Number(sum.amount) + amount) };
        lines[`${group} ${name}`] = next;
      }
    }
    return lines;
  }
});

test('two projectors side by side add nothing twice', async () => {
  const store = await temporaryStore();
  const tokens = Array.from({ length: 30 }, (_, index) => `p${index}`);
  const ending = new AbortController();
  const parts = { store, clock: systemClock, ids: systemIds, log: silentLog };
  const projectors = [3, 500].map((batchEventsMax) => createTotalsProjector({ ...parts, batchEventsMax }));
  const running = projectors.map((projector) => projector.run(ending.signal));
  for (const event of [requested(), accepted, approved])
    await Promise.all(tokens.map((token) => appendPayment(store, token, [event])));
  for (const projector of projectors) await projected(store, projector);
  ending.abort();
  await Promise.all(running);
  expect((await totalsIn(store))[eurOfShop]!.payments).toMatchObject(
    sums({ init: [0, 0], approved: [30, 45_000] }),
  );
});

test('totals that are added up from the beginning say so until they are whole', async () => {
  const store = await temporaryStore();
  const written: (boolean | undefined)[] = [];
  const append: EventStore['append'] = (stream, events, expected) => {
    if (stream === totalsCheckpointStreamOf(1))
      written.push((events[0]?.data as { isPartial?: boolean }).isPartial);
    return store.append(stream, events, expected);
  };
  for (const token of ['p1', 'p2', 'p3', 'p4']) await appendPayment(store, token, [requested()]);
  const projector = createTotalsProjector({
    ...{ store: { ...store, append }, clock: systemClock, ids: systemIds, log: silentLog },
    batchEventsMax: 2,
  });
  await projector.start();
  await vi.waitFor(() => expect(projector.health().isAtEnd).toBe(true), soon);
  await appendPayment(store, 'p5', [requested()]);
  await projected(store, projector);
  await projector.stop();
  expect(written).toEqual([true, true, undefined, undefined]);
});
