/**
 * The record of a person: one stream each (`person-<hash>`), whose last event has everything and is the only one kept. It is
 * signed with the secrets of the credentials. Any other event is ignored.
 */
import { createHash } from 'node:crypto';
import type { RecordedEvent } from '@tollgate/event-store';
import { z } from 'zod';
import { checkSignature } from '../signing/signed-events.ts';
import type { TeamVerifier } from '../signing/signing-keys.ts';
import { type OperatorClaims, claimsSchema } from './credentials.ts';

const { id, person, source, issuedAt, expiresAt } = claimsSchema.shape;

const registeredSchema = z.strictObject({
  id,
  use: z.enum(['session', 'api']),
  person,
  source,
  issuedAt,
  expiresAt,
  /** Address of the sign-in. */
  address: z.string().exactOptional(),
});
/** A token, or a session of the console. */
export type RegisteredCredential = z.infer<typeof registeredSchema>;

const recordSchema = z.strictObject({
  credentials: z.array(registeredSchema),
  usedLinks: z.array(z.strictObject({ id, expiresAt })),
  /** Links issued until then are invalid, milliseconds since the Unix epoch; 0 revokes none. */
  linksRevokedUntil: z.int(),
});
export type PersonRecord = z.infer<typeof recordSchema>;

export const noRecord: PersonRecord = { credentials: [], usedLinks: [], linksRevokedUntil: 0 };

export const personStreamPrefix = 'person-';

/** Names may have any character. */
export const personStream = (name: string): string =>
  `${personStreamPrefix}${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;

/** Undefined for an unsigned event. @throws z.ZodError for one that this release cannot read */
export function readPersonRecord(verifier: TeamVerifier, event: RecordedEvent): PersonRecord | undefined {
  // Only the last event is kept, so none refers to the previous one.
  const { kind } = checkSignature(verifier, event, undefined);
  return kind === 'signed' ? recordSchema.parse(event.data) : undefined;
}

/** Without expired entries. */
export function pruned(record: PersonRecord, now: number): PersonRecord {
  const isAlive = ({ expiresAt: end }: Pick<OperatorClaims, 'expiresAt'>) => end > now;
  return {
    credentials: record.credentials.filter(isAlive),
    usedLinks: record.usedLinks.filter(isAlive),
    linksRevokedUntil: record.linksRevokedUntil,
  };
}
