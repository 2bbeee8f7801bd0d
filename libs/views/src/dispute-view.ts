/** The view of one dispute. */
import {
  decodeDisputeEvent,
  disputeEventSchemas,
  disputeStreamPrefix,
  evolveDisputeAggregate,
  type DisputeAggregate,
} from '@tollgate/payment-domain';
import { oncePerEvent, type Position } from '@tollgate/event-store';
import { z } from 'zod';
import { createFold, envelopeSchema } from './view-kind.ts';

/** Raised with every change to the schema below: older views are then folded again. */
export const disputeViewSchemaVersion = 1;

export interface DisputeView extends DisputeAggregate<Position> {
  schemaVersion: typeof disputeViewSchemaVersion;
}

export const readDisputeEvent = oncePerEvent(decodeDisputeEvent);

/** As `foldPaymentView`, of a dispute. */
export const foldDisputeView = createFold({
  streamPrefix: disputeStreamPrefix,
  decode: readDisputeEvent,
  evolve: (view: DisputeView | undefined, happened): DisputeView => ({
    schemaVersion: disputeViewSchemaVersion,
    ...evolveDisputeAggregate(view, happened),
  }),
});

/** A view as it is stored. Parsing also brings its fields into one order, whatever order the events brought. */
export const disputeViewSchema: z.ZodType<DisputeView> = z.object({
  schemaVersion: z.literal(disputeViewSchemaVersion),
  ...envelopeSchema,
  dispute: disputeEventSchemas.DisputeOpened,
});

/** When the service says that it was opened, or else when it was first seen here, milliseconds since the Unix epoch. */
export const openedAtOf = ({ dispute, createdAt }: Pick<DisputeView, 'dispute' | 'createdAt'>): number =>
  dispute.openedAt ?? createdAt;
