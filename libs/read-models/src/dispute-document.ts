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
import {
  createFold,
  createdAtOf,
  envelopeSchema,
  type DocumentEnvelope,
  type Happened,
} from './document-kind.ts';

/** Grows with every change to the schema below: older documents are folded again. */
export const disputeDocumentVersion = 1;

export interface DisputeDocument extends DocumentEnvelope {
  schemaVersion: typeof disputeDocumentVersion;
  dispute: Dispute;
}

/**
 * The document after the next event.
 *
 * @throws InvariantViolation where events are missing between the document and this one, or the dispute rules it out.
 */
export function evolveDisputeDocument(
  document: DisputeDocument | undefined,
  happened: Happened<DisputeEvent>,
): DisputeDocument {
  const { token, recordedAt, revision, position } = happened;
  const createdAt = createdAtOf(document, happened);
  const dispute = evolveDispute(document?.dispute, happened.event);
  return {
    schemaVersion: disputeDocumentVersion,
    ...{ token, createdAt, updatedAt: recordedAt, revision, position, dispute },
  };
}

/** As `foldPaymentDocument`, of a dispute. */
export const foldDisputeDocument = createFold({
  streamPrefix: disputeStreamPrefix,
  decode: decodeDisputeEvent,
  evolve: evolveDisputeDocument,
});

/** A document as it is stored. Parsing also brings its fields into one order, whatever order the events brought. */
export const disputeDocumentSchema: z.ZodType<DisputeDocument> = z.object({
  schemaVersion: z.literal(disputeDocumentVersion),
  ...envelopeSchema,
  dispute: disputeEventSchemas.DisputeOpened,
});

/** When the service says that it was opened, or else when we heard of it, milliseconds since the Unix epoch. */
export const openedAtOf = ({ dispute, createdAt }: DisputeDocument): number => dispute.openedAt ?? createdAt;
