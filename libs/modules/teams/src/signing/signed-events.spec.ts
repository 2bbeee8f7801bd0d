import { assert, constantFrom, jsonValue, property, string } from 'fast-check';
import { beginning, type NewEvent, type RecordedEvent } from '@tollgate/event-store';
import { Secret } from '@tollgate/service-kit';
import { describe, expect, test } from 'vitest';
import {
  checkSignature,
  signEvent,
  createTeamSigner,
  createTeamVerifier,
  newSigningKeys,
} from './signed-events.ts';

const { privateKey, publicKey } = newSigningKeys();
const signer = createTeamSigner(privateKey);
const verifier = createTeamVerifier(publicKey);

const event = {
  id: 'e1',
  type: 'KeyIssued',
  data: { keyId: 'k1', scopes: ['read'] },
  metadata: { actor: { kind: 'person', name: 'anna' }, recordedAt: 1 },
};
const place = { stream: 'team-shop', revision: 3, previous: 'before' };

/** As a store returns it. */
const stored = (added: NewEvent, at: { stream: string; revision: number }): RecordedEvent => ({
  ...(JSON.parse(JSON.stringify(added)) as NewEvent),
  kind: 'event',
  ...at,
  position: beginning,
  recordedAt: 2,
});

function sign(changes: Partial<typeof place> = {}): RecordedEvent & { value: string } {
  const at = { ...place, ...changes };
  const { value, ...signed } = signEvent(signer, at, event);
  return { ...stored(signed, at), value };
}

describe('a signed event', () => {
  test('is valid in its place', () => {
    const signed = sign();
    expect(checkSignature(verifier, signed, 'before')).toEqual({ kind: 'signed', value: signed.value });
  });

  test('is valid in any order of the returned fields', () => {
    const { data: _, metadata, ...rest } = sign();
    const data = { scopes: ['read'], keyId: 'k1' };
    const turned = Object.fromEntries(Object.entries(metadata as object).toReversed());
    expect(checkSignature(verifier, { ...rest, data, metadata: turned }, 'before').kind).toBe('signed');
  });

  test.each<[string, Partial<RecordedEvent>]>([
    ['another stream', { stream: 'team-games' }],
    ['another revision', { revision: 4 }],
    ['another id', { id: 'e2' }],
    ['another type', { type: 'KeyRevoked' }],
    ['other data', { data: { keyId: 'k1', scopes: ['read', 'payouts'] } }],
    ['further data', { data: { keyId: 'k1', scopes: ['read'], networks: [] } }],
    ['no metadata', { metadata: null }],
    ['a text as metadata', { metadata: 'signature' }],
  ])('is invalid with %s', (_, change) => {
    expect(checkSignature(verifier, { ...sign(), ...change }, 'before')).toEqual({ kind: 'unsigned' });
  });

  test('is invalid with another cause, time or key', () => {
    const { metadata } = sign();
    const { signature } = metadata as { signature: Record<string, unknown> };
    for (const changes of [
      { actor: { kind: 'person', name: 'eve' } },
      { recordedAt: 2 },
      { more: 1 },
      { signature: { ...signature, kid: 'other' } },
      { signature: { ...signature, previous: 'forged' } },
      { signature: { ...signature, value: '' } },
      { signature: { ...signature, value: 7 } },
      { signature: undefined },
    ]) {
      const changed = { ...sign(), metadata: { ...Object(metadata), ...changes } };
      expect(checkSignature(verifier, changed, 'before'), JSON.stringify(changes)).toEqual({
        kind: 'unsigned',
      });
    }
  });

  test('after a removed event shows the gap', () => {
    expect(checkSignature(verifier, sign(), 'earlier')).toEqual({ kind: 'gap' });
    expect(checkSignature(verifier, sign(), undefined)).toEqual({ kind: 'gap' });
  });

  test('of an unknown key is invalid, and valid with its key in addition to the other', () => {
    const other = newSigningKeys();
    const both = createTeamVerifier(`${other.publicKey}\n${publicKey}`);
    expect(checkSignature(createTeamVerifier(other.publicKey), sign(), 'before').kind).toBe('unsigned');
    expect(checkSignature(both, sign(), 'before').kind).toBe('signed');
    expect(both.kids).toEqual([createTeamSigner(other.privateKey).kid, signer.kid]);
  });

  test('is invalid after any change of its data', () => {
    assert(
      property(jsonValue(), constantFrom('keyId', 'scopes', 'more'), (value, field) => {
        const signed = sign();
        const data = { ...Object(signed.data), [field]: value };
        const isSame = JSON.stringify(data) === JSON.stringify(signed.data);
        const expected = isSame ? 'signed' : 'unsigned';
        expect(checkSignature(verifier, { ...signed, data }, 'before').kind).toBe(expected);
      }),
    );
  });

  test('is never simulated by other content in place of a signature', () => {
    assert(
      property(jsonValue(), string(), (signature, value) => {
        const metadata = { ...event.metadata, signature };
        expect(checkSignature(verifier, { ...sign(), metadata }, 'before').kind).toBe('unsigned');
        const guessed = { ...event.metadata, signature: { kid: signer.kid, value, previous: 'before' } };
        expect(checkSignature(verifier, { ...sign(), metadata: guessed }, 'before').kind).toBe('unsigned');
      }),
    );
  });
});

describe('keys', () => {
  test.each(['', 'no key', privateKey.reveal().slice(0, 60)])('an invalid text: %#', (text) => {
    expect(() => createTeamSigner(new Secret(text))).toThrow('The private key is not an Ed25519 key in PEM.');
    expect(() => createTeamVerifier(text)).toThrow('The public key is not an Ed25519 key in PEM.');
  });

  test('a private key is not accepted as a public one', () => {
    expect(() => createTeamVerifier(privateKey.reveal())).toThrow('not an Ed25519 key');
  });
});
