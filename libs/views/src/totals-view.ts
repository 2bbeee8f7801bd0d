/**
 * What a team took, gave back and paid out: one document per environment, team, currency and day. The day is that of the
 * creation, in UTC, and never changes, so that each event of a payment or payout concerns one document.
 */
import type { Position } from '@tollgate/event-store';
import { paymentStatuses, type PaymentStatus } from '@tollgate/payment-api/values';
import {
  environmentSchema,
  payoutStatusSchema,
  reservedAmount,
  statusOfPayoutPhase,
  statusOfPhase,
  type Environment,
  type PayoutStatus,
} from '@tollgate/payment-domain';
import { z } from 'zod';
import { positionSchema, type ViewEnvelope } from './view-kind.ts';
import type { PaymentView } from './payment-view.ts';
import type { PayoutView } from './payout-view.ts';
import { viewStreamOf, type ViewVersion } from './view-streams.ts';

/** Grows with every change to the schema below or to what is counted: all totals are then folded again. */
export const totalsViewSchemaVersion = 1;
export const totalsVersions = `totals:${totalsViewSchemaVersion}`;
export const totalsWrittenEventType = 'TotalsViewWritten';

export interface TotalsKey {
  environment: Environment;
  team: string;
  currency: string;
  /** YYYY-MM-DD, in UTC. */
  day: string;
}

/** How many payments or payouts, and how much they are together. */
export interface Sum {
  count: number;
  /** Minor units, in decimal digits: a sum may be larger than the largest safe integer, and must stay exact. */
  amount: string;
}

export interface TotalsView extends TotalsKey {
  schemaVersion: typeof totalsViewSchemaVersion;
  /** The last event that has changed it: no event at or before its position may be added again. */
  last: { stream: string; revision: number; position: Position };
  /** By status. The amount is what was approved, where it was, and else what was asked for. */
  payments: Record<PaymentStatus, Sum>;
  /** Payments of which something was given back (`confirmed`), or is about to be and the outcome is open (`reserved`). */
  refunds: { confirmed: Sum; reserved: Sum };
  payouts: Record<PayoutStatus, Sum>;
}

const sumSchema = z.object({ count: z.int().min(0), amount: z.string().regex(/^\d{1,40}$/) });
const sumsBy = <Name extends string>(names: readonly Name[]) =>
  z.object(Object.fromEntries(names.map((name) => [name, sumSchema])) as Record<Name, typeof sumSchema>);

/** A document as it is stored. Parsing also brings its fields into one order, whatever order the events brought. */
export const totalsViewSchema = z.object({
  schemaVersion: z.literal(totalsViewSchemaVersion),
  environment: environmentSchema,
  team: z.string(),
  currency: z.string(),
  day: z.iso.date(),
  last: z.object({ stream: z.string(), revision: z.int().min(0), position: positionSchema }),
  payments: sumsBy(paymentStatuses),
  refunds: sumsBy(['confirmed', 'reserved']),
  payouts: sumsBy(payoutStatusSchema.options),
}) satisfies z.ZodType<TotalsView>;

const totalsPrefix = 'totals-';

export const totalsPrefixOf = (viewVersion: ViewVersion): string => viewStreamOf(totalsPrefix, viewVersion);

export const totalsStreamOf = (
  { environment, team, currency, day }: TotalsKey,
  viewVersion: ViewVersion,
): string => `${totalsPrefixOf(viewVersion)}${environment}-${team}-${currency}-${day}`;

/** Where a payment or payout counts, and as what; several lines where part of it was given back. */
export interface Contribution {
  key: TotalsKey;
  lines: readonly Line[];
}

type Line = { amount: number } & (
  | { group: 'payments'; name: PaymentStatus }
  | { group: 'refunds'; name: 'confirmed' | 'reserved' }
  | { group: 'payouts'; name: PayoutStatus }
);

/** What the document of a payment or payout adds to the totals. */
export function contributionOf(view: PaymentView | PayoutView): Contribution {
  return 'payment' in view ? ofPayment(view) : ofPayout(view);
}

function ofPayment({ payment, createdAt }: PaymentView): Contribution {
  const status = statusOfPhase(payment.phase);
  const isTaken = status === 'approved' || status === 'refunded';
  const lines: Line[] = [
    { group: 'payments', name: status, amount: isTaken ? payment.approvedAmount : payment.terms.amount },
    { group: 'refunds', name: 'confirmed', amount: payment.refundedAmount },
    { group: 'refunds', name: 'reserved', amount: reservedAmount(payment) },
  ];
  // A payment counts among the refunds only where there is money in it.
  return {
    key: keyOf(payment, createdAt),
    lines: lines.filter(({ group, amount }) => group !== 'refunds' || amount > 0),
  };
}

function ofPayout({ payout, createdAt }: PayoutView): Contribution {
  const name = statusOfPayoutPhase(payout.phase);
  return { key: keyOf(payout, createdAt), lines: [{ group: 'payouts', name, amount: payout.terms.amount }] };
}

const keyOf = (
  { environment, team, terms }: { environment: Environment; team: string; terms: { currency: string } },
  createdAt: ViewEnvelope['createdAt'],
): TotalsKey => ({ environment, team, currency: terms.currency, day: dayOf(createdAt) });

/** The UTC day of an instant, YYYY-MM-DD. */
export function dayOf(instant: number): string {
  const number = Math.floor(instant / dayMs);
  if (number !== lastDay.number) lastDay = { number, text: new Date(instant).toISOString().slice(0, 10) };
  return lastDay.text;
}

const dayMs = 86_400_000;
// Pure memory: writing a date costs a microsecond, and the events of a rebuild are mostly of one day after the other.
let lastDay = { number: 0, text: '1970-01-01' };

/** What one event changes in one document. */
export interface TotalsChange {
  key: TotalsKey;
  last: TotalsView['last'];
  /** Counted until now, and from now on. */
  before: readonly Line[];
  after: readonly Line[];
}

/**
 * The document after changes, which must come in the order of positions; one that it has seen changes nothing. They are
 * summed up first: a batch has thousands for a few sums.
 */
export function applyTotalsChanges(
  view: TotalsView | undefined,
  changes: readonly TotalsChange[],
): TotalsView | undefined {
  const tally = createTally();
  let last = view?.last;
  for (const change of changes) {
    if (last !== undefined && change.last.position <= last.position) continue;
    for (const line of change.before) tally.add(line, -1);
    for (const line of change.after) tally.add(line, 1);
    last = change.last;
  }
  const [first] = changes;
  if (first === undefined || last === undefined || last === view?.last) return view;
  return tally.addTo({ ...(view ?? emptyTotals(first.key)), last });
}

/** Sums of lines, to be added to a document. */
function createTally() {
  const byLine = new Map<string, Pick<Line, 'group' | 'name'> & { count: number; amount: bigint }>();
  return {
    add: ({ group, name, amount }: Line, sign: 1 | -1): void => {
      const key = `${group} ${name}`;
      const sum = byLine.get(key) ?? { group, name, count: 0, amount: 0n };
      sum.count += sign;
      sum.amount += BigInt(sign * amount);
      byLine.set(key, sum);
    },
    addTo: (view: TotalsView): TotalsView => {
      const sums: Record<Line['group'], Record<string, Sum>> = {
        payments: { ...view.payments },
        refunds: { ...view.refunds },
        payouts: { ...view.payouts },
      };
      for (const { group, name, count, amount } of byLine.values()) {
        const before = sums[group][name] ?? nothing;
        sums[group][name] = {
          count: before.count + count,
          amount: (BigInt(before.amount) + amount).toString(),
        };
      }
      return { ...view, ...sums } as TotalsView;
    },
  };
}

const nothing: Sum = { count: 0, amount: '0' };
const nothingBy = <Name extends string>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, nothing])) as Record<Name, Sum>;

const emptyTotals = (key: TotalsKey): Omit<TotalsView, 'last'> => ({
  schemaVersion: totalsViewSchemaVersion,
  ...key,
  payments: nothingBy(paymentStatuses),
  refunds: nothingBy(['confirmed', 'reserved']),
  payouts: nothingBy(payoutStatusSchema.options),
});
