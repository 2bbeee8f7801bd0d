/** Credentials of people: issued, listed, revoked, and refused by every process that follows the store. */
import type { EventStore } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { type KeyedSecret, Secret, silentLog, systemIds, hourMs } from '@tollgate/service-kit';
import { createFakeClock, eventually } from '@tollgate/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sessionIdleMsDefault } from '../authentication.ts';
import { createTeamDirectory } from '../team-directory.ts';
import { testVerifier } from '../testing/teams.ts';
import { createCredentialRegister, sessionLifetimeMs, personStream } from './credential-register.ts';
import { createOperatorCredentials } from './credentials.ts';
import { everywhere } from './grants.ts';

const secret = (kid: string, letter: string): KeyedSecret => ({
  kid,
  secret: new Secret(letter.repeat(32)),
});
const ada = { person: 'ada@example.com', source: 'command-line', grants: everywhere('operator') } as const;
const bob = { ...ada, person: 'bob' } as const;
const address = '192.0.2.1';

async function given(secrets: [KeyedSecret, ...KeyedSecret[]] = [secret('k1', 'a')], known?: EventStore) {
  const store = known ?? (await temporaryStore());
  const clock = createFakeClock();
  const deps = { store, clock, ids: systemIds, log: silentLog };
  const credentials = createOperatorCredentials(secrets, deps);
  const register = createCredentialRegister({ ...deps, credentials });
  async function token(operator: typeof ada | typeof bob = ada, lifetimeMs = hourMs) {
    const claims = credentials.newClaims(operator, 'api', lifetimeMs);
    expect(await register.add(claims)).toBe(true);
    return { id: claims.id, claims, header: `Bearer ${credentials.seal(claims)}` };
  }
  /** Another process, or the same one after a restart. */
  async function process() {
    const directory = createTeamDirectory({ ...deps, verifier: testVerifier, operators: credentials });
    onTestFinished(() => directory.stop());
    await directory.start();
    return directory;
  }
  const link = (operator: typeof ada | typeof bob = ada) =>
    credentials.newClaims(operator, 'sign-in', 15 * 60_000);
  return { store, clock, credentials, register, token, process, link };
}

const revoked = { kind: 'refused', code: 'person_token_revoked', keyId: 'person:ada@example.com' };

describe('a token', () => {
  it('is valid in every process, is revoked in every process, and stays revoked after a restart', async () => {
    const { register, token, process } = await given();
    const [first, second] = [await process(), await process()];
    const { id, header } = await token();
    for (const each of [first, second])
      await eventually(() => expect(each.authenticate(header).kind).toBe('caller'));
    expect(await register.revoke(ada.person, id)).toMatchObject([{ id, use: 'api' }]);
    for (const each of [first, second])
      await eventually(() => expect(each.authenticate(header)).toEqual(revoked));
    expect((await process()).authenticate(header)).toEqual(revoked);
  });

  it('that was never registered is refused, even with a valid MAC', async () => {
    const { credentials, token, process } = await given();
    await token();
    const forged = `Bearer ${credentials.issue(ada, 'api', hourMs)}`;
    expect((await process()).authenticate(forged)).toEqual(revoked);
  });

  it('is revoked with all others of its person, and those of other people stay', async () => {
    const { register, token, process, link } = await given();
    const [own, other] = [await token(), await token(bob)];
    const unused = link();
    await register.revoke(ada.person);
    const directory = await process();
    expect(directory.authenticate(own.header)).toEqual(revoked);
    expect(directory.authenticate(other.header).kind).toBe('caller');
    expect(await register.signIn(unused, address)).toBeUndefined();
    expect(directory.credentialsOfPeople()).toMatchObject([{ id: other.id, person: 'bob' }]);
  });

  // A second revocation with an earlier clock re-enabled the links that the first had revoked.
  it('with its links stays revoked if the clock is set back', async () => {
    const { clock, register, link } = await given();
    const unused = link();
    await register.revoke(ada.person);
    await clock.advance(-60_000);
    await register.revoke(ada.person);
    expect(await register.signIn(unused, address)).toBeUndefined();
  });

  it('is listed by person until it expires, without its secret', async () => {
    const { clock, register, token } = await given();
    const ofBob = await token(bob);
    const short = await token(ada, 1_000);
    const long = await token();
    const ids = async () => (await register.list()).map(({ id }) => id);
    expect(new Set(await ids())).toEqual(new Set([ofBob.id, short.id, long.id]));
    expect((await ids()).at(-1)).toBe(ofBob.id);
    await clock.advance(1_000);
    expect(await ids()).toEqual([long.id, ofBob.id]);
    // The record drops everything that has expired.
    expect(await register.revoke(ada.person)).toMatchObject([{ id: long.id }]);
  });

  it('concurrent changes are all kept', async () => {
    const { register, token } = await given();
    await Promise.all(Array.from({ length: 6 }, () => token()));
    expect(await register.list()).toHaveLength(6);
  });
});

describe('a session', () => {
  it('begins once per link, even with two concurrent requests', async () => {
    const { register, link } = await given();
    const once = link();
    const begun = await Promise.all([register.signIn(once, address), register.signIn(once, address)]);
    expect(begun.filter((each) => each !== undefined)).toHaveLength(1);
    expect(await register.list()).toMatchObject([{ use: 'session', address: '192.0.2.1' }]);
  });

  it('ends after the idle time from the last action of its person, and at its end in any case', async () => {
    const { clock, credentials, register, link, process } = await given();
    const begun = await register.signIn(link(), address);
    if (begun === undefined) throw new Error('no session');
    const directory = await process();
    const codeAfter = (usedAt: number) => {
      const found = directory.authenticate(`Bearer ${credentials.seal({ ...begun, use: 'api', usedAt })}`);
      return found.kind === 'refused' ? found.code : found.kind;
    };
    await clock.advance(sessionIdleMsDefault - 1);
    expect(codeAfter(begun.issuedAt)).toBe('caller');
    await clock.advance(1);
    expect(codeAfter(begun.issuedAt)).toBe('session_idle');
    expect(codeAfter(clock.now())).toBe('caller');
    await clock.advance(sessionLifetimeMs);
    expect(codeAfter(clock.now())).toBe('person_token_expired');
  });
});

describe('the record of a person', () => {
  /** A person with write access to the store must neither gain entry nor lock out a running gateway’s people. */
  it('is not changed by a row that is not signed', async () => {
    const { store, credentials, token, process } = await given();
    const { header } = await token();
    const directory = await process();
    expect(directory.authenticate(header).kind).toBe('caller');
    const foreign = credentials.newClaims(bob, 'api', hourMs);
    const { use: _, ...rest } = foreign;
    const data = { credentials: [{ ...rest, use: 'api' }], usedLinks: [], linksRevokedUntil: 0 };
    for (const person of [ada.person, bob.person]) {
      const event = { id: systemIds.uuid(), type: 'PersonCredentialsChanged', data, metadata: {} };
      await store.append(personStream(person), [event], 'any');
    }
    await directory.catchUp();
    expect(directory.authenticate(header).kind).toBe('caller');
    const forged = directory.authenticate(`Bearer ${credentials.seal(foreign)}`);
    expect(forged).toMatchObject({ code: 'person_token_revoked' });
  });

  it('survives a rotation of the secrets, and is lost with the secret that signs it', async () => {
    const [older, newer] = [secret('k1', 'a'), secret('k2', 'b')];
    const { store, token } = await given([older]);
    const { header } = await token();
    const rotating = await given([newer, older], store);
    expect((await rotating.process()).authenticate(header).kind).toBe('caller');
    const after = await given([newer], store);
    expect((await after.process()).authenticate(header)).toMatchObject({ code: 'incorrect_private_key' });
    expect(await after.register.list()).toEqual([]);
    // The person continues under the new secret.
    const fresh = await after.token();
    expect((await after.process()).authenticate(fresh.header).kind).toBe('caller');
  });
});
