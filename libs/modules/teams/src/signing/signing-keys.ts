/** Ed25519 keys of team events: only the writer of teams has the private one, and every service the public ones. */
import {
  type KeyObject,
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
} from 'node:crypto';
import { Secret, TollgateError } from '@tollgate/service-kit';

export interface Signature {
  /** Name of the key: the first 16 hexadecimal digits of the SHA-256 of its public half. */
  kid: string;
  /** Base64url. */
  value: string;
}

export interface TeamSigner {
  kid: string;
  sign(text: string): Signature;
}

export interface TeamVerifier {
  /** Names of the known keys. */
  kids: readonly string[];
  isSigned(text: string, signature: Signature): boolean;
}

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

/**
 * @param publicKeysPem one or several, concatenated: after a rotation the former one stays, for its signatures
 * @throws SigningKeyInvalid
 */
export function createTeamVerifier(publicKeysPem: string): TeamVerifier {
  const texts = publicKeysPem.match(/-----BEGIN PUBLIC KEY-----[\s\S]*?-----END PUBLIC KEY-----/g) ?? [];
  if (texts.length === 0) throw new SigningKeyInvalid('public key');
  const keys = new Map<string, KeyObject>();
  for (const text of texts) {
    const key = readKey('public key', () => createPublicKey(text));
    keys.set(kidOf(key), key);
  }
  return {
    kids: [...keys.keys()],
    isSigned: (text, { kid, value }) => {
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
