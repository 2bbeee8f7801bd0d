/** The view of one payout. */
import {
  decodePayoutEvent,
  evolvePayoutAggregate,
  payoutSchema,
  payoutStreamPrefix,
  type PayoutAggregate,
} from '@tollgate/payment-domain';
import { oncePerEvent, type Position } from '@tollgate/event-store';
import { z } from 'zod';
import { createFold, envelopeSchema, instantSchema } from './view-kind.ts';

/** Raised with every change to the schema below: older views are then folded again. */
export const payoutViewSchemaVersion = 10;

export interface PayoutView extends PayoutAggregate<Position> {
  schemaVersion: typeof payoutViewSchemaVersion;
}

export const readPayoutEvent = oncePerEvent(decodePayoutEvent);

/** As `foldPaymentView`, of a payout. */
export const foldPayoutView = createFold({
  streamPrefix: payoutStreamPrefix,
  decode: readPayoutEvent,
  evolve: (view: PayoutView | undefined, happened): PayoutView => ({
    schemaVersion: payoutViewSchemaVersion,
    ...evolvePayoutAggregate(view, happened),
  }),
});

/** A view as it is stored. Parsing also brings its fields into one order, whatever order the events brought. */
export const payoutViewSchema: z.ZodType<PayoutView> = z.object({
  schemaVersion: z.literal(payoutViewSchemaVersion),
  ...envelopeSchema,
  payout: payoutSchema,
  reviewsSince: z.array(instantSchema),
});
