/**
 * Events of a team are signed, so that writing a row makes nobody a team or a key. The signature covers the stream, the
 * revision, everything in the event, and the signature of the signed event before it: an event of another place does not
 * verify here, and one that was removed or replaced leaves a gap.
 */
import type { NewEvent, RecordedEvent } from '@tollgate/event-store';
import { canonicalJson } from '@tollgate/service-kit';
import { z } from 'zod';
import type { Signature, TeamSigner, TeamVerifier } from './signing-keys.ts';

const signatureSchema = z.object({
  kid: z.string().max(64),
  value: z.string().max(128),
  /** Value of the signature of the last signed event before this one; absent for the first. */
  previous: z.string().max(128).optional(),
});

/** Where in its stream an event is to stand. */
interface Place {
  stream: string;
  revision: number;
  /** As in the signature. */
  previous: string | undefined;
}

type Unsigned = Pick<NewEvent, 'id' | 'type' | 'data'> & { metadata: object };

export function signEvent(signer: TeamSigner, place: Place, event: Unsigned): NewEvent & { value: string } {
  const { previous } = place;
  const { kid, value } = signer.sign(textOf({ ...place, kid: signer.kid, event }));
  const signature = { kid, value, ...(previous === undefined ? {} : { previous }) };
  return { ...event, metadata: { ...event.metadata, signature }, value };
}

/**
 * `unsigned`: it counts for nothing, and what was signed before it continues to count. `gap`: it is signed, but what was
 * signed before it is not what is there now; something was removed.
 */
export type SignatureVerdict = { kind: 'signed'; value: string } | { kind: 'unsigned' } | { kind: 'gap' };

/** @param previous value of the last signature that counts in this stream */
export function checkSignature(
  verifier: TeamVerifier,
  recorded: RecordedEvent,
  previous: string | undefined,
): SignatureVerdict {
  const { stream, revision, id, type, data } = recorded;
  const { signature: given, ...metadata } = Object(recorded.metadata) as { signature?: unknown };
  const { success, data: signature } = signatureSchema.safeParse(given);
  if (!success) return { kind: 'unsigned' };
  const { kid, value } = signature;
  const place = { stream, revision, previous: signature.previous };
  const text = textOf({ ...place, kid, event: { id, type, data, metadata } });
  if (!verifier.isSigned(text, { kid, value } satisfies Signature)) return { kind: 'unsigned' };
  return signature.previous === previous ? { kind: 'signed', value } : { kind: 'gap' };
}

const textOf = ({ event, ...place }: Place & { kid: string; event: Unsigned }): string => {
  const { id, type, data, metadata } = event;
  return canonicalJson({ purpose: 'tollgate-team-event-1', ...place, id, type, data, metadata });
};
