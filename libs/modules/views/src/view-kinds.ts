/**
 * One description per kind of view. A view is the state of a payment, payout, dispute, transfer or unmatched operation. Projector
 * and index are generic.
 */
import {
  decodePaymentEvent,
  decodePayoutEvent,
  evolvePaymentAggregate,
  evolvePayoutAggregate,
  inquiryNeedOf,
  inquiryNeedOfPayout,
  inquiryShardOf,
  paymentPhases,
  paymentSchema,
  paymentStreamPrefix,
  payoutPhases,
  payoutSchema,
  payoutStreamPrefix,
  reservedAmount,
  statusOfPayoutPhase,
  statusOfPhase,
  undecidedRefund,
  type Environment,
  type PaymentAggregate,
  type PayoutAggregate,
  type Review,
} from '@tollgate/core';
import type { Position } from '@tollgate/event-store';
import { utcDayOf } from '@tollgate/service-kit';
import { z } from 'zod';
import {
  decodeDisputeEvent,
  decodeTransferEvent,
  decodeUnmatchedEvent,
  disputeEventSchemas,
  disputeStreamPrefix,
  evolveDisputeAggregate,
  evolveTransferAggregate,
  evolveUnmatchedAggregate,
  spendingOfPayment,
  spendingOfPayout,
  standingsOfPayment,
  standingsOfPayout,
  standingsOfTransfer,
  transferSchema,
  transferStreamPrefix,
  unmatchedSchema,
  unmatchedStreamPrefix,
  type DisputeAggregate,
  type TransferAggregate,
  type UnmatchedAggregate,
} from '@tollgate/books';
import { instantSchema, viewsOf, type Columns, type Versioned, type ViewKind } from './view-kind.ts';
import type { Contribution } from './totals.ts';

export type PaymentView = PaymentAggregate<Position> & Versioned;
export type PayoutView = PayoutAggregate<Position> & Versioned;
export type DisputeView = DisputeAggregate<Position> & Versioned;
type TransferView = TransferAggregate<Position> & Versioned;
export type UnmatchedView = UnmatchedAggregate<Position> & Versioned;

const reviewsSince = z.array(instantSchema);
const refundTimes = z.array(z.object({ createdAt: instantSchema, updatedAt: instantSchema }));

export const paymentKind: ViewKind<PaymentView> = {
  name: 'payment',
  ...viewsOf(
    paymentStreamPrefix,
    { payment: paymentSchema, reviewsSince, refundTimes },
    decodePaymentEvent,
    evolvePaymentAggregate,
  ),
  ownerOf: ({ payment }) => payment,
  reviewsSinceOf: ({ reviewsSince }) => reviewsSince,
  contributionOf: contributionOfPayment,
  walletsOf: ({ payment }) => [payment.wallet],
  standingsOf: ({ payment }) => standingsOfPayment(payment),
  spendingOf: ({ payment, createdAt }) => spendingOfPayment(payment, createdAt),
  table: {
    name: 'payments',
    isFed: true,
    fixedColumns: ({ token, payment }) => termColumns(token, payment),
    changingColumns: ({ payment }) => ({
      ...stateColumns(payment),
      account: payment.attempt.account,
      service_token: payment.serviceToken ?? null,
      refund_open: undecidedRefund(payment) === undefined ? 0 : 1,
      decline_reason: payment.declineReason ?? null,
    }),
    inquiryNeedOf: ({ payment }) => inquiryNeedOf(payment),
    metadataOf: ({ payment }) => payment.terms.metadata,
    phasesOf: (status) => paymentPhases.filter((phase) => statusOfPhase(phase) === status),
  },
};

export const payoutKind: ViewKind<PayoutView> = {
  name: 'payout',
  ...viewsOf(
    payoutStreamPrefix,
    { payout: payoutSchema, reviewsSince },
    decodePayoutEvent,
    evolvePayoutAggregate,
  ),
  ownerOf: ({ payout }) => payout,
  reviewsSinceOf: ({ reviewsSince }) => reviewsSince,
  contributionOf: contributionOfPayout,
  walletsOf: ({ payout }) => [payout.wallet],
  standingsOf: ({ payout }) => standingsOfPayout(payout),
  spendingOf: ({ payout, createdAt }) => spendingOfPayout(payout, createdAt),
  table: {
    name: 'payouts',
    isFed: true,
    fixedColumns: ({ token, payout }) => ({ ...termColumns(token, payout), account: payout.call.account }),
    changingColumns: ({ payout }) => stateColumns(payout),
    inquiryNeedOf: ({ payout }) => inquiryNeedOfPayout(payout),
    metadataOf: ({ payout }) => payout.terms.metadata,
    phasesOf: (status) => payoutPhases.filter((phase) => statusOfPayoutPhase(phase) === status),
  },
};

export const disputeKind: ViewKind<DisputeView> = {
  name: 'dispute',
  ...viewsOf(
    disputeStreamPrefix,
    { dispute: disputeEventSchemas.DisputeOpened },
    decodeDisputeEvent,
    evolveDisputeAggregate,
  ),
  ownerOf: ({ dispute }) => dispute,
  reviewsSinceOf: () => [],
  table: {
    name: 'disputes',
    isFed: true,
    fixedColumns: ({ dispute }) => ({ environment: dispute.environment }),
    changingColumns: ({ dispute, createdAt }) => ({
      // No team has this name: an operator of all teams sees objects without a team.
      team: dispute.team ?? '',
      payment_token: dispute.paymentToken ?? '',
      phase: dispute.state,
      currency: dispute.currency,
      // The provider's opening time, or else the first sight here.
      created_at: dispute.openedAt ?? createdAt,
    }),
    phasesOf: (status) => [status],
  },
};

/** Its team is the only one of the account: see the reconciliation. */
export const unmatchedKind: ViewKind<UnmatchedView> = {
  name: 'unmatched',
  ...viewsOf(
    unmatchedStreamPrefix,
    { unmatched: unmatchedSchema, reviewsSince },
    decodeUnmatchedEvent,
    evolveUnmatchedAggregate,
  ),
  ownerOf: ({ unmatched }) => unmatched,
  reviewsSinceOf: ({ reviewsSince }) => reviewsSince,
  table: {
    name: 'unmatched',
    fixedColumns: ({ unmatched }) => ({ environment: unmatched.environment }),
    changingColumns: ({ unmatched }) => ({ team: unmatched.team ?? null }),
  },
};

/** It belongs to two wallets, and to no team. */
export const transferKind: ViewKind<TransferView> = {
  name: 'transfer',
  ...viewsOf(
    transferStreamPrefix,
    { transfer: transferSchema },
    decodeTransferEvent,
    evolveTransferAggregate,
  ),
  ownerOf: ({ transfer: { environment } }) => ({ environment }),
  reviewsSinceOf: () => [],
  walletsOf: ({ transfer }) => [transfer.from, transfer.to],
  standingsOf: ({ transfer }) => standingsOfTransfer(transfer),
  table: {
    name: 'transfers',
    fixedColumns: ({ transfer }) => ({ environment: transfer.environment }),
    changingColumns: () => ({}),
  },
};

export const viewKinds: readonly ViewKind[] = [
  paymentKind,
  payoutKind,
  disputeKind,
  transferKind,
  unmatchedKind,
];

export const foldedPrefixes: readonly string[] = viewKinds.map(({ streamPrefix }) => streamPrefix);

export const kindOfStream = (stream: string): ViewKind | undefined =>
  viewKinds.find(({ streamPrefix }) => stream.startsWith(streamPrefix));

interface Operation {
  environment: string;
  team: string;
  terms: { currency: string; orderNumber?: string | undefined };
  phase: string;
  reviews: readonly Review[];
}

const termColumns = (token: string, { environment, team, terms }: Operation): Columns => ({
  shard: inquiryShardOf(token),
  environment,
  team,
  order_number: terms.orderNumber ?? null,
  currency: terms.currency,
});

const stateColumns = ({ phase, reviews }: Operation): Columns => ({
  phase,
  needs_review: reviews.length > 0 ? 1 : 0,
});

function contributionOfPayment({ payment, createdAt }: PaymentView): Contribution {
  const status = statusOfPhase(payment.phase);
  const isTaken = status === 'approved' || status === 'refunded';
  const { refundedAmount } = payment;
  const reserved = reservedAmount(payment);
  const lines: Contribution['lines'][number][] = [
    { line: `payments ${status}`, amount: isTaken ? payment.approvedAmount : payment.terms.amount },
  ];
  // A payment counts among the refunds only if money was refunded.
  if (refundedAmount > 0) lines.push({ line: 'refunds confirmed', amount: refundedAmount });
  if (reserved > 0) lines.push({ line: 'refunds reserved', amount: reserved });
  return { ...totalsKeyOf(payment, createdAt), lines };
}

function contributionOfPayout({ payout, createdAt }: PayoutView): Contribution {
  const line = `payouts ${statusOfPayoutPhase(payout.phase)}` as const;
  return { ...totalsKeyOf(payout, createdAt), lines: [{ line, amount: payout.terms.amount }] };
}

const totalsKeyOf = (
  { environment, team, terms }: { environment: Environment; team: string; terms: { currency: string } },
  createdAt: number,
) => ({ environment, team, currency: terms.currency, day: utcDayOf(createdAt) });
