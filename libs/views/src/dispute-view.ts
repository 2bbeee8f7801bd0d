/** The document of one dispute. */
import {
  decodeDisputeEvent,
  disputeEventSchemas,
  disputeStreamPrefix,
  evolveDispute,
  type Dispute,
  type DisputeEvent,
} from '@tollgate/payment-domain';
import { z } from 'zod';
import { createFold, createdAtOf, envelopeSchema, type ViewEnvelope, type Happened } from './view-kind.ts';

/** Grows with every change to the schema below: older documents are folded again. */
export const disputeViewSchemaVersion = 1;

export interface DisputeView extends ViewEnvelope {
  schemaVersion: typeof disputeViewSchemaVersion;
  dispute: Dispute;
}

/**
 * The document after the next event.
 *
 * @throws InvariantViolation where events are missing between the document and this one, or the dispute rules it out.
 */
export function evolveDisputeView(
  view: DisputeView | undefined,
  happened: Happened<DisputeEvent>,
): DisputeView {
  const { token, recordedAt, revision, position } = happened;
  const createdAt = createdAtOf(view, happened);
  const dispute = evolveDispute(view?.dispute, happened.event);
  return {
    schemaVersion: disputeViewSchemaVersion,
    ...{ token, createdAt, updatedAt: recordedAt, revision, position, dispute },
  };
}

/** As `foldPaymentDocument`, of a dispute. */
export const foldDisputeView = createFold({
  streamPrefix: disputeStreamPrefix,
  decode: decodeDisputeEvent,
  evolve: evolveDisputeView,
});

/** A document as it is stored. Parsing also brings its fields into one order, whatever order the events brought. */
export const disputeViewSchema: z.ZodType<DisputeView> = z.object({
  schemaVersion: z.literal(disputeViewSchemaVersion),
  ...envelopeSchema,
  dispute: disputeEventSchemas.DisputeOpened,
});

/** When the service says that it was opened, or else when we heard of it, milliseconds since the Unix epoch. */
export const openedAtOf = ({ dispute, createdAt }: DisputeView): number => dispute.openedAt ?? createdAt;
