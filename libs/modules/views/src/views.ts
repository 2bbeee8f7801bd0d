/** The views of payments, payouts, disputes, transfers and unmatched operations: the state of one stream, folded from its events. */
import {
  decodePaymentEvent,
  decodePayoutEvent,
  evolvePaymentAggregate,
  evolvePayoutAggregate,
  paymentSchema,
  paymentStreamPrefix,
  payoutSchema,
  payoutStreamPrefix,
  type PaymentAggregate,
  type PayoutAggregate,
} from '@tollgate/core';
import type { Position } from '@tollgate/event-store';
import { z } from 'zod';
import {
  decodeDisputeEvent,
  decodeTransferEvent,
  disputeEventSchemas,
  disputeStreamPrefix,
  evolveDisputeAggregate,
  evolveTransferAggregate,
  transferSchema,
  transferStreamPrefix,
  type DisputeAggregate,
  type TransferAggregate,
  decodeUnmatchedEvent,
  evolveUnmatchedAggregate,
  unmatchedSchema,
  unmatchedStreamPrefix,
  type UnmatchedAggregate,
} from '@tollgate/books';
import { instantSchema, viewsOf, type Versioned } from './view-kind.ts';

export type PaymentView = PaymentAggregate<Position> & Versioned;
export type PayoutView = PayoutAggregate<Position> & Versioned;
export type DisputeView = DisputeAggregate<Position> & Versioned;
export type TransferView = TransferAggregate<Position> & Versioned;
export type UnmatchedView = UnmatchedAggregate<Position> & Versioned;

const reviewsSince = z.array(instantSchema);
const refundTimes = z.array(z.object({ createdAt: instantSchema, updatedAt: instantSchema }));

export const paymentViews = viewsOf<PaymentView, ReturnType<typeof decodePaymentEvent>>(
  paymentStreamPrefix,
  { payment: paymentSchema, reviewsSince, refundTimes },
  decodePaymentEvent,
  evolvePaymentAggregate,
);

export const payoutViews = viewsOf<PayoutView, ReturnType<typeof decodePayoutEvent>>(
  payoutStreamPrefix,
  { payout: payoutSchema, reviewsSince },
  decodePayoutEvent,
  evolvePayoutAggregate,
);

export const disputeViews = viewsOf<DisputeView, ReturnType<typeof decodeDisputeEvent>>(
  disputeStreamPrefix,
  { dispute: disputeEventSchemas.DisputeOpened },
  decodeDisputeEvent,
  evolveDisputeAggregate,
);

export const unmatchedViews = viewsOf<UnmatchedView, ReturnType<typeof decodeUnmatchedEvent>>(
  unmatchedStreamPrefix,
  { unmatched: unmatchedSchema, reviewsSince },
  decodeUnmatchedEvent,
  evolveUnmatchedAggregate,
);

export const transferViews = viewsOf<TransferView, ReturnType<typeof decodeTransferEvent>>(
  transferStreamPrefix,
  { transfer: transferSchema },
  decodeTransferEvent,
  evolveTransferAggregate,
);
