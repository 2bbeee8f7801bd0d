import { z } from 'zod';

/** Who caused an event: a team through one of its keys, or a service of ours. */
const actorSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('team'), team: z.string(), keyId: z.string() }),
  z.object({ kind: z.literal('service'), name: z.string() }),
]);
export type Actor = z.infer<typeof actorSchema>;

/** Stored beside every event of ours. */
export const eventMetadataSchema = z.object({
  /** The schema version that a reader of the event needs. */
  schemaVersion: z.int().min(1),
  /** The same for everything that one request or callback set off. */
  correlationId: z.string(),
  /** The request, callback, inquiry or event that directly caused this one. */
  causationId: z.string(),
  /** W3C Trace Context, where the caller sent one. */
  traceparent: z.string().optional(),
  /** Milliseconds since the Unix epoch, by the clock of the process that decided. */
  recordedAt: z.int(),
  actor: actorSchema,
});
export type EventMetadata = z.infer<typeof eventMetadataSchema>;
