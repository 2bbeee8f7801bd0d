import { Secret, type KeyedSecret } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { type CredentialUse, type Operator, createOperatorCredentials } from './credentials.ts';
import { everywhere } from './grants.ts';

const secret = (kid: string, letter: string): KeyedSecret => ({
  kid,
  secret: new Secret(letter.repeat(32)),
});
const ada: Operator = { person: 'ada@example.com', source: 'command-line', grants: everywhere('operator') };

function given(secrets: [KeyedSecret, ...KeyedSecret[]] = [secret('k1', 'a')]) {
  let [now, issued] = [1_000, 0];
  const clock = { now: () => now };
  const ids = { hex: (count: number) => String((issued += 1)).padStart(count * 2, '0') };
  return {
    credentials: createOperatorCredentials(secrets, { clock, ids }),
    pass: (ms: number) => (now += ms),
  };
}

describe('a credential of a person', () => {
  it('identifies its person, until it expires', () => {
    const { credentials, pass } = given();
    const text = credentials.issue(ada, 'api', 500);
    expect(credentials.open(text, 'api')).toMatchObject({ ...ada, use: 'api', expiresAt: 1_500 });
    pass(500);
    expect(credentials.open(text, 'api')).toBeUndefined();
  });

  it.each<[CredentialUse, CredentialUse]>([
    ['sign-in', 'session'],
    ['sign-in', 'api'],
    ['session', 'api'],
    ['api', 'session'],
  ])('for %s is not valid as %s', (made, asked) => {
    const { credentials } = given();
    expect(credentials.open(credentials.issue(ada, made, 500), asked)).toBeUndefined();
  });

  it('is valid under an older secret during a rotation, and not after it', () => {
    const [older, newer] = [secret('k1', 'a'), secret('k2', 'b')];
    const text = given([older]).credentials.issue(ada, 'api', 500);
    expect(given([newer, older]).credentials.open(text, 'api')).toMatchObject(ada);
    expect(given([newer]).credentials.open(text, 'api')).toBeUndefined();
    expect(given([secret('k1', 'c')]).credentials.open(text, 'api')).toBeUndefined();
  });

  it('is invalid after a change of any character', () => {
    const { credentials } = given();
    const text = credentials.issue(ada, 'api', 500);
    for (let at = 0; at < text.length; at += 7) {
      const other = text[at] === 'A' ? 'B' : 'A';
      expect(credentials.open(`${text.slice(0, at)}${other}${text.slice(at + 1)}`, 'api')).toBeUndefined();
    }
  });

  it.each(['', 'tgo', 'tgo.k1.e30.', `tgo.k1.e30.${'0'.repeat(64)}`, `tgo.k1.${'A'.repeat(5_000)}.00`])(
    'is not %s',
    (text) => {
      expect(given().credentials.open(text, 'api')).toBeUndefined();
    },
  );
});

it('a MAC for one purpose is invalid for another', () => {
  const { credentials } = given();
  expect(credentials.mac('csrf', 'x')).not.toBe(credentials.mac('key', 'x'));
});
