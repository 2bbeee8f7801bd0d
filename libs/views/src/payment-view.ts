/** The view of one payment. */
import {
  decodePaymentEvent,
  evolvePaymentAggregate,
  paymentSchema,
  paymentStreamPrefix,
  type PaymentAggregate,
} from '@tollgate/payment-domain';
import { oncePerEvent, type Position } from '@tollgate/event-store';
import { z } from 'zod';
import { createFold, envelopeSchema, instantSchema } from './view-kind.ts';

/** Raised with every change to the schema below, or to what the fold keeps: older views are then folded again. */
export const paymentViewSchemaVersion = 12;

export interface PaymentView extends PaymentAggregate<Position> {
  schemaVersion: typeof paymentViewSchemaVersion;
}

export const readPaymentEvent = oncePerEvent(decodePaymentEvent);

/**
 * The view after one more event of its stream. An event that it has seen already changes nothing.
 *
 * @throws InvariantViolation if events are missing between the view and this one, or the payment rules it out;
 * z.ZodError or RangeError for an event that no version of ours has written.
 */
export const foldPaymentView = createFold({
  streamPrefix: paymentStreamPrefix,
  decode: readPaymentEvent,
  evolve: (view: PaymentView | undefined, happened): PaymentView => ({
    schemaVersion: paymentViewSchemaVersion,
    ...evolvePaymentAggregate(view, happened),
  }),
});

/** A view as it is stored. Parsing also brings its fields into one order, whatever order the events brought. */
export const paymentViewSchema: z.ZodType<PaymentView> = z.object({
  schemaVersion: z.literal(paymentViewSchemaVersion),
  ...envelopeSchema,
  payment: paymentSchema,
  reviewsSince: z.array(instantSchema),
});
