/**
 * Signs the events of a team, so that write access to the store creates no team or key. The signature covers the stream, the
 * revision, the whole event, and the signature of the previous signed event: an event of another place is invalid here, and a
 * removed or replaced one leaves a gap.
 */
import type { NewEvent, RecordedEvent } from '@tollgate/event-store';
import { canonicalJson } from '@tollgate/service-kit';
import { z } from 'zod';
import type { Signature, TeamSigner, TeamVerifier } from './signing-keys.ts';

const signatureSchema = z.object({
  kid: z.string().max(64),
  value: z.string().max(128),
  /** Value of the previous signature; absent for the first event. */
  previous: z.string().max(128).optional(),
});

/** The place of an event in its stream. */
interface Place {
  stream: string;
  revision: number;
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
 * `unsigned`: the event is ignored, and earlier signed ones stay valid. `gap`: it is signed, but its predecessor is missing or
 * replaced.
 */
export type SignatureVerdict = { kind: 'signed'; value: string } | { kind: 'unsigned' } | { kind: 'gap' };

/** @param previous value of the last valid signature in this stream */
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
