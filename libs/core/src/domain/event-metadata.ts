import { z } from 'zod';

/** Who caused an event: a team through one of its keys, a person, or our service. */
const actorSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('team'),
    team: z.string(),
    keyId: z.string(),
    /** From where the request came, as far as the proxies before us are trusted. */
    address: z.string().optional(),
  }),
  z.object({
    kind: z.literal('person'),
    /** As it was given; `os:<user>@<host>` where nobody has given one. */
    name: z.string(),
    /** How the person was identified. What is given on the command line is a statement, and proves nothing. */
    source: z.enum(['command-line', 'oidc']),
  }),
  z.object({ kind: z.literal('service'), name: z.string() }),
]);
export type Actor = z.infer<typeof actorSchema>;
export type Person = Extract<Actor, { kind: 'person' }>;

/** Stored with every event of ours. */
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
  /** Another event of the same append follows: what is in between has never been the case. Absent in what 0.1.0 wrote. */
  continues: z.literal(true).optional(),
});
export type EventMetadata = z.infer<typeof eventMetadataSchema>;
