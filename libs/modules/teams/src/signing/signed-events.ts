/**
 * Signs the events of a team, so that write access to the store creates no team or key. The signature covers the stream, the
 * revision, the whole event, and the signature of the previous signed event: an event of another place is invalid here, and a
 * removed or replaced one leaves a gap.
 */
import type { NewEvent, RecordedEvent } from '@tollgate/event-store';
import { canonicalJson, Secret, TollgateError } from '@tollgate/service-kit';
import { z } from 'zod';
import {
  type KeyObject,
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
} from 'node:crypto';

interface Signature {
  /** Name of the key: the first 16 hexadecimal digits of the SHA-256 of its public half. */
  kid: string;
  /** Base64url. */
  value: string;
}

export interface TeamSigner {
  kid: string;
  sign(text: string): Signature;
}

/** The keys are Ed25519: only the writer of teams has the private one, and every service the public ones. */
class SigningKeyInvalid extends TollgateError {
  constructor(which: string) {
    super('signing_key_invalid', `The ${which} is not an Ed25519 key in PEM.`);
  }
}

/** A new pair, in PEM: PKCS#8 and SPKI, as `openssl genpkey -algorithm ed25519` writes them. */
export function newSigningKeys(): { privateKey: Secret; publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    privateKey: new Secret(String(privateKey.export({ type: 'pkcs8', format: 'pem' }))),
    publicKey: toPem(publicKey),
  };
}

/** @throws SigningKeyInvalid, which never contains the text */
export function createTeamSigner(privateKeyPem: Secret): TeamSigner & { publicKey: string } {
  const privateKey = readKey('private key', () => createPrivateKey(privateKeyPem.reveal()));
  const publicKey = createPublicKey(privateKey);
  const kid = kidOf(publicKey);
  return {
    kid,
    publicKey: toPem(publicKey),
    sign: (text) => ({ kid, value: sign(null, Buffer.from(text), privateKey).toString('base64url') }),
  };
}

export type TeamVerifier = ReturnType<typeof createTeamVerifier>;

/**
 * @param publicKeysPem one or several, concatenated: after a rotation the former one stays, for its signatures
 * @throws SigningKeyInvalid
 */
export function createTeamVerifier(publicKeysPem: string) {
  const texts = publicKeysPem.match(/-----BEGIN PUBLIC KEY-----[\s\S]*?-----END PUBLIC KEY-----/g) ?? [];
  if (texts.length === 0) throw new SigningKeyInvalid('public key');
  const keys = new Map<string, KeyObject>();
  for (const text of texts) {
    const key = readKey('public key', () => createPublicKey(text));
    keys.set(kidOf(key), key);
  }
  return {
    /** Names of the known keys. */
    kids: [...keys.keys()],
    isSigned: (text: string, { kid, value }: Signature): boolean => {
      const key = keys.get(kid);
      return key !== undefined && verify(null, Buffer.from(text), key, Buffer.from(value, 'base64url'));
    },
  };
}

function readKey(which: string, read: () => KeyObject): KeyObject {
  let key: KeyObject;
  try {
    key = read();
  } catch {
    throw new SigningKeyInvalid(which);
  }
  if (key.asymmetricKeyType !== 'ed25519') throw new SigningKeyInvalid(which);
  return key;
}

const toPem = (key: KeyObject): string => String(key.export({ type: 'spki', format: 'pem' }));

const kidOf = (key: KeyObject): string =>
  createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest('hex')
    .slice(0, 16);

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
  recorded: NewEvent & Pick<RecordedEvent, 'stream' | 'revision'>,
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
