import {
  paymentKind,
  payoutKind,
  streamOf,
  toPublicTotals,
  type ViewEnvelope,
  type ViewKind,
} from '@tollgate/views';
import {
  anyHistory,
  anyPayoutHistory,
  happening,
  requested,
  toRecordedIn,
  type AnyEvent,
} from '@tollgate/views/testing';
import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { listTotals, type TotalsQuery } from './index-ledger.ts';
import type { IndexedView } from './index-writer.ts';
import { givenFile, openIndexFile, type TestIndexFile } from './testing/open-index-file.ts';

const { accepted, approved, declined, held, refunding, refundApproved, refundedElsewhere, revised } =
  happening;
const shop: TotalsQuery = { environment: 'sandbox', team: 'shop', from: '2026-01-01', to: '2026-01-31' };

/** The views after each event of a stream. */
function versionsOf(kind: ViewKind, token: string, events: readonly AnyEvent[]): IndexedView[] {
  let view: ViewEnvelope | undefined;
  return toRecordedIn(streamOf(kind, token), events).map((event) => {
    view = kind.fold(view, event);
    return { kind, view };
  });
}

const lastOf = (kind: ViewKind, token: string, events: readonly AnyEvent[]): IndexedView =>
  versionsOf(kind, token, events).at(-1)!;

const sums = (counts: Record<string, [count: number, amount: number]>) =>
  Object.fromEntries(Object.entries(counts).map(([name, [count, amount]]) => [name, { count, amount }]));

/** One per day and currency. */
const totalsOf = (file: TestIndexFile, query = shop) =>
  toPublicTotals(listTotals(file, query), { withPayouts: true }).days.flatMap(({ day, currencies }) =>
    currencies.map((each) => ({ day, ...each })),
  );

describe('totals', () => {
  test('follow a payment from status to status, and its refunds', () => {
    const file = givenFile();
    const history: AnyEvent[] = [];
    const step = (...events: AnyEvent[]) => {
      history.push(...events);
      file.plant([lastOf(paymentKind, 'p1', history)]);
      return totalsOf(file)[0]!;
    };
    expect(step(requested(), accepted).payments).toMatchObject(sums({ init: [1, 1_500] }));
    expect(step(held).payments).toMatchObject(sums({ init: [0, 0], pending: [1, 1_500] }));
    expect(step(declined).payments).toMatchObject(sums({ pending: [0, 0], declined: [1, 1_500] }));
    // The provider contradicts itself, with another amount.
    expect(step(revised).payments).toMatchObject(sums({ declined: [0, 0], approved: [1, 1_400] }));
    expect(step(refunding).refunds).toEqual(sums({ confirmed: [0, 0], reserved: [1, 500] }));
    expect(step(refundApproved).refunds).toEqual(sums({ confirmed: [1, 500], reserved: [0, 0] }));
    const end = step({ ...refundedElsewhere, data: { amount: 900 } });
    expect(end.refunds).toEqual(sums({ confirmed: [1, 1_400], reserved: [0, 0] }));
    expect(end.payments).toMatchObject(sums({ approved: [0, 0], refunded: [1, 1_400] }));
  });

  test("stay exact beyond the largest safe integer, and beyond SQLite's addition", () => {
    const huge = { ...approved, data: { amount: Number.MAX_SAFE_INTEGER } };
    const count = 2_000;
    const views = Array.from({ length: count }, (_, index) =>
      lastOf(paymentKind, `p${index}`, [requested(), accepted, huge]),
    );
    const file = givenFile(views);
    expect(linesOfTotals(file)['payments approved']).toEqual({
      count: BigInt(count),
      amount: BigInt(count) * BigInt(Number.MAX_SAFE_INTEGER),
    });
  });
});

test('equal the sums of the stored views, for any repeated, late or batched events', () => {
  const histories = fc.tuple(anyHistory, anyHistory, anyHistory, anyPayoutHistory, anyPayoutHistory);
  const batches = fc.array(
    fc.array(fc.record({ stream: fc.nat(4), version: fc.nat(30) }), { maxLength: 6 }),
    {
      maxLength: 12,
    },
  );
  fc.assert(
    fc.property(histories, batches, (given, taken) => {
      const versions = given.map((events, index) =>
        versionsOf(index < 3 ? paymentKind : payoutKind, `t${index}`, events),
      );
      const file = openIndexFile(':memory:');
      for (const batch of taken)
        file.plant(
          batch.map(({ stream, version }) => versions[stream]![version % versions[stream]!.length]!),
        );
      expect(linesOfTotals(file)).toEqual(linesOfViews(file));
      file.close();
    }),
    { numRuns: propertyRuns(50) },
  );
});

type Lines = Record<string, { count: bigint; amount: bigint }>;

const noLine = { count: 0n, amount: 0n };

/** By line, without zeros. */
function linesOfTotals(file: TestIndexFile): Lines {
  const lines: Lines = {};
  for (const { line, measure, sum } of listTotals(file, shop)) {
    const own = lines[line] ?? noLine;
    if (sum !== 0n) lines[line] = { ...own, [measure]: own[measure] + sum };
  }
  return lines;
}

/** Summed up from the current views alone. */
function linesOfViews(file: TestIndexFile): Lines {
  const lines: Lines = {};
  for (let index = 0; index < 5; index += 1)
    for (const kind of [paymentKind, payoutKind] as ViewKind[]) {
      const view = file.find(kind, `t${index}`);
      if (view === undefined) continue;
      for (const { line, amount } of kind.contributionOf!(view).lines) {
        const own = lines[line] ?? noLine;
        lines[line] = { count: own.count + 1n, amount: own.amount + BigInt(amount) };
      }
    }
  return lines;
}
