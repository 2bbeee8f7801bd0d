/** Names of the streams that hold read models, and what the projector's checkpoint says. */
import type { Position } from '@tollgate/event-store';
import { z } from 'zod';

export const paymentViewStreamPrefix = 'view_payment-';
/** Holds the document of one payment; the last one is kept. */
export const paymentViewStream = (token: string): string => `${paymentViewStreamPrefix}${token}`;
/** Holds how far the documents of all payments have come; the last one is kept. */
export const paymentCheckpointStream = 'view_checkpoint-payments';

export const paymentDocumentEventType = 'PaymentDocumentWritten';
export const paymentCheckpointEventType = 'PaymentCheckpointWritten';

/** A position as it comes back from a file or a stream. */
export const positionSchema = z.custom<Position>((value) => typeof value === 'string' && value.length <= 128);

/** A stream whose events the projector could not apply; its document stands still before `revision`. */
export const failedStreamSchema = z.object({
  stream: z.string(),
  revision: z.int().min(0),
  code: z.string(),
});
export type FailedStream = z.infer<typeof failedStreamSchema>;

/**
 * Written after the documents: every event of a payment at or before `position` is in its document, except those of the
 * failed streams.
 */
export const paymentCheckpointSchema = z.object({
  schemaVersion: z.literal(1),
  position: positionSchema,
  failedStreams: z.array(failedStreamSchema),
});
export type PaymentCheckpoint = z.infer<typeof paymentCheckpointSchema>;
