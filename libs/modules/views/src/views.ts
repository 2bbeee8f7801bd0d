/** The views of payments, payouts, disputes, transfers and unmatched operations: the state of one stream, folded from its events. */
import {
  decodeDisputeEvent,
  decodePaymentEvent,
  decodePayoutEvent,
  decodeTransferEvent,
  decodeUnmatchedEvent,
  disputeEventSchemas,
  disputeStreamPrefix,
  evolveDisputeAggregate,
  evolvePaymentAggregate,
  evolvePayoutAggregate,
  evolveTransferAggregate,
  evolveUnmatchedAggregate,
  paymentSchema,
  paymentStreamPrefix,
  payoutSchema,
  payoutStreamPrefix,
  transferSchema,
  transferStreamPrefix,
  unmatchedSchema,
  unmatchedStreamPrefix,
  type DisputeAggregate,
  type PaymentAggregate,
  type PayoutAggregate,
  type TransferAggregate,
  type UnmatchedAggregate,
} from '@tollgate/core';
import type { Position } from '@tollgate/event-store';
import { z } from 'zod';
import { createFold, instantSchema, viewSchemaOf, type Versioned } from './view-kind.ts';

export type PaymentView = PaymentAggregate<Position> & Versioned;
export type PayoutView = PayoutAggregate<Position> & Versioned;
export type DisputeView = DisputeAggregate<Position> & Versioned;
export type TransferView = TransferAggregate<Position> & Versioned;
export type UnmatchedView = UnmatchedAggregate<Position> & Versioned;

const reviewsSince = z.array(instantSchema);
const refundTimes = z.array(z.object({ createdAt: instantSchema, updatedAt: instantSchema }));

export const paymentViews = {
  streamPrefix: paymentStreamPrefix,
  schema: viewSchemaOf<PaymentView>({ payment: paymentSchema, reviewsSince, refundTimes }),
  ...createFold<PaymentView, ReturnType<typeof decodePaymentEvent>>(
    paymentStreamPrefix,
    decodePaymentEvent,
    evolvePaymentAggregate,
  ),
};

export const payoutViews = {
  streamPrefix: payoutStreamPrefix,
  schema: viewSchemaOf<PayoutView>({ payout: payoutSchema, reviewsSince }),
  ...createFold<PayoutView, ReturnType<typeof decodePayoutEvent>>(
    payoutStreamPrefix,
    decodePayoutEvent,
    evolvePayoutAggregate,
  ),
};

export const disputeViews = {
  streamPrefix: disputeStreamPrefix,
  schema: viewSchemaOf<DisputeView>({ dispute: disputeEventSchemas.DisputeOpened }),
  ...createFold<DisputeView, ReturnType<typeof decodeDisputeEvent>>(
    disputeStreamPrefix,
    decodeDisputeEvent,
    evolveDisputeAggregate,
  ),
};

export const unmatchedViews = {
  streamPrefix: unmatchedStreamPrefix,
  schema: viewSchemaOf<UnmatchedView>({ unmatched: unmatchedSchema, reviewsSince }),
  ...createFold<UnmatchedView, ReturnType<typeof decodeUnmatchedEvent>>(
    unmatchedStreamPrefix,
    decodeUnmatchedEvent,
    evolveUnmatchedAggregate,
  ),
};

export const transferViews = {
  streamPrefix: transferStreamPrefix,
  schema: viewSchemaOf<TransferView>({ transfer: transferSchema }),
  ...createFold<TransferView, ReturnType<typeof decodeTransferEvent>>(
    transferStreamPrefix,
    decodeTransferEvent,
    evolveTransferAggregate,
  ),
};
