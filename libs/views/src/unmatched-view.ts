/** The view of a payment or payout that only the provider has. */
import {
  decodeUnmatchedEvent,
  evolveUnmatchedAggregate,
  unmatchedSchema,
  unmatchedStreamPrefix,
  type UnmatchedAggregate,
} from '@tollgate/payment-domain';
import { oncePerEvent, type Position } from '@tollgate/event-store';
import { z } from 'zod';
import { createFold, envelopeSchema, instantSchema } from './view-kind.ts';

/** Raised with every change to the schema below: older views are then folded again. */
export const unmatchedViewSchemaVersion = 3;

export interface UnmatchedView extends UnmatchedAggregate<Position> {
  schemaVersion: typeof unmatchedViewSchemaVersion;
}

export const readUnmatchedEvent = oncePerEvent(decodeUnmatchedEvent);

/** As `foldPaymentView`, of what only the provider has. */
export const foldUnmatchedView = createFold({
  streamPrefix: unmatchedStreamPrefix,
  decode: readUnmatchedEvent,
  evolve: (view: UnmatchedView | undefined, happened): UnmatchedView => ({
    schemaVersion: unmatchedViewSchemaVersion,
    ...evolveUnmatchedAggregate(view, happened),
  }),
});

/** A view as it is stored. Parsing also brings its fields into one order, whatever order the events brought. */
export const unmatchedViewSchema: z.ZodType<UnmatchedView> = z.object({
  schemaVersion: z.literal(unmatchedViewSchemaVersion),
  ...envelopeSchema,
  unmatched: unmatchedSchema,
  reviewsSince: z.array(instantSchema),
});
