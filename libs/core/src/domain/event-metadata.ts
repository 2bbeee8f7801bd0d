import { z } from 'zod';

/** The originator of an event: a team by one of its keys, a person, or our service. */
const actorSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('team'),
    team: z.string(),
    keyId: z.string(),
    /** Origin of the request, as reported by trusted proxies. */
    address: z.string().optional(),
  }),
  z.object({
    kind: z.literal('person'),
    /** As supplied; `os:<user>@<host>` if nothing was supplied. */
    name: z.string(),
    /** How the person was identified. A name from the command line is a claim, without proof. */
    source: z.enum(['command-line', 'oidc']),
    /** Origin of the request, as reported by trusted proxies; absent for a command line. */
    address: z.string().optional(),
  }),
  z.object({ kind: z.literal('service'), name: z.string() }),
]);
export type Actor = z.infer<typeof actorSchema>;
export type Person = Extract<Actor, { kind: 'person' }>;

/** Stored with each of our events. */
export const eventMetadataSchema = z.object({
  /** The schema version that a reader of the event needs. */
  schemaVersion: z.int().min(1),
  /** The same for every effect of one request or callback. */
  correlationId: z.string(),
  /** The request, callback, inquiry or event that directly caused this one. */
  causationId: z.string(),
  /** W3C Trace Context, if the caller sent one. */
  traceparent: z.string().optional(),
  /** Milliseconds since the Unix epoch, by the clock of the process that decided. */
  recordedAt: z.int(),
  actor: actorSchema,
  /** Another event of the same append follows: the state in between never existed. Absent in events of 0.1.0. */
  continues: z.literal(true).optional(),
});
export type EventMetadata = z.infer<typeof eventMetadataSchema>;
