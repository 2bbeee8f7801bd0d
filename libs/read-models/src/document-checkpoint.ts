/** What the projector's checkpoint says, and where it stands. */
import { z } from 'zod';
import { positionSchema } from './document-kind.ts';

/** Holds how far the documents of all kinds have come; the last one is kept. */
export const checkpointStream = 'view_checkpoint-documents';
export const checkpointEventType = 'DocumentCheckpointWritten';

/** A stream whose events the projector could not apply; its document stands still before `revision`. */
export const failedStreamSchema = z.object({
  stream: z.string(),
  revision: z.int().min(0),
  code: z.string(),
});
export type FailedStream = z.infer<typeof failedStreamSchema>;

/**
 * Written after the documents: every event at or before `position` is in its document, except those of the failed
 * streams. That holds for documents of these versions only.
 */
export const checkpointSchema = z.object({
  schemaVersion: z.literal(1),
  /** As {@link documentVersions} of whoever wrote it. */
  documentVersions: z.string(),
  position: positionSchema,
  failedStreams: z.array(failedStreamSchema),
});
export type DocumentCheckpoint = z.infer<typeof checkpointSchema>;
