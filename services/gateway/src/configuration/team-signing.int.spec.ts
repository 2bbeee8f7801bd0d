import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { temporaryFile } from '@tollgate/event-store/testing';
import { createTeamVerifier, newSigningKeys } from '@tollgate/teams';
import { readConfig, Secret, StartupError } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { openTeamKeys, teamSigningEnvironmentSchema } from './team-signing.ts';

const folder = async () => ({ path: dirname(await temporaryFile()) });
const installing = { mayInstall: true };
const apart = { mayInstall: false };
const keyFile = 'operator-signing.key';
const publicFile = 'operator-signing.pub';

describe('on one machine', () => {
  it('a pair is created at the first use, the private key for its owner only, and kept', async () => {
    const directory = await folder();
    const { kids } = openTeamKeys({}, directory, installing).verifier();
    expect(statSync(join(directory.path, keyFile)).mode & 0o777).toBe(0o600);
    const again = openTeamKeys({}, directory, installing);
    expect(again.verifier().kids).toEqual(kids);
    expect([again.signer().kid]).toEqual(kids);
  });

  it('a start that was killed between the two files continues with the first', async () => {
    const directory = await folder();
    const { kid } = openTeamKeys({}, directory, installing).signer();
    rmSync(join(directory.path, publicFile));
    expect(openTeamKeys({}, directory, installing).verifier().kids).toEqual([kid]);
  });

  it('no other pair is created if the public key is known: its private half is elsewhere', async () => {
    const directory = await folder();
    openTeamKeys({}, directory, installing).install();
    rmSync(join(directory.path, keyFile));
    const keys = openTeamKeys({}, directory, installing);
    expect(keys.verifier().kids).toHaveLength(1);
    expect(() => keys.signer()).toThrow('TOLLGATE_TEAM_SIGNING_KEY_FILE');
    expect(existsSync(join(directory.path, keyFile))).toBe(false);
  });
});

// The process ended as by our defect, with a stack that named neither.
describe('an invalid key', () => {
  it.each([publicFile, keyFile])('is reported by its file: %s', async (name) => {
    const directory = await folder();
    openTeamKeys({}, directory, installing).signer();
    writeFileSync(join(directory.path, name), '');
    const open = () => openTeamKeys({}, directory, installing).signer();
    expect(open).toThrow(StartupError);
    expect(open).toThrow(`The file ${join(directory.path, name)} is empty, damaged or not`);
  });

  it('is reported by its variable', async () => {
    const directory = await folder();
    openTeamKeys({}, directory, installing).install();
    const ofPublic = openTeamKeys({ publicKeys: 'foo' }, directory, apart);
    expect(() => ofPublic.verifier()).toThrow('TOLLGATE_TEAM_SIGNING_PUBLIC_KEY is not an Ed25519 key');
    const ofPrivate = openTeamKeys({ privateKey: new Secret('foo') }, directory, apart);
    expect(() => ofPrivate.signer()).toThrow('TOLLGATE_TEAM_SIGNING_KEY is not an Ed25519 key');
  });
});

describe('if services run apart', () => {
  it('nothing is created, and missing keys are reported', async () => {
    const directory = await folder();
    expect(() => openTeamKeys({}, directory, apart).verifier()).toThrow('TOLLGATE_TEAM_SIGNING_PUBLIC_KEY');
    expect(existsSync(join(directory.path, keyFile))).toBe(false);
  });

  it('the variables name the keys', async () => {
    const { path } = await folder();
    const { privateKey, publicKey } = newSigningKeys();
    const privateKeyFile = join(path, 'elsewhere.key');
    writeFileSync(privateKeyFile, privateKey.reveal());
    const config = readConfig(teamSigningEnvironmentSchema, {
      TOLLGATE_TEAM_SIGNING_KEY_FILE: privateKeyFile,
      TOLLGATE_TEAM_SIGNING_PUBLIC_KEY: publicKey,
    });
    const keys = openTeamKeys(config, { path }, apart);
    expect([keys.signer().kid]).toEqual(createTeamVerifier(publicKey).kids);
    const inline = readConfig(teamSigningEnvironmentSchema, {
      TOLLGATE_TEAM_SIGNING_KEY: privateKey.reveal(),
    });
    expect(JSON.stringify(inline)).not.toContain('PRIVATE');
    expect(openTeamKeys({ ...inline, publicKeys: publicKey }, { path }, apart).signer().kid).toBe(
      keys.signer().kid,
    );
  });

  it('init-signing makes the private key if it is configured to be, and the public one for the services', async () => {
    const directory = await folder();
    const privateKeyFile = join(directory.path, 'for-the-operator.key');
    const { publicKeys, publicKeysFile } = openTeamKeys({ privateKeyFile }, directory, apart).install();
    expect(publicKeysFile).toBe(join(directory.path, publicFile));
    expect(readFileSync(join(directory.path, publicFile), 'utf8')).toBe(publicKeys);
    expect(existsSync(join(directory.path, keyFile))).toBe(false);
    expect(openTeamKeys({}, directory, apart).verifier().kids).toHaveLength(1);
  });

  it('a private key without its public half signs nothing', async () => {
    const directory = await folder();
    const publicKeys = newSigningKeys().publicKey;
    const privateKey = newSigningKeys().privateKey;
    expect(() => openTeamKeys({ privateKey, publicKeys }, directory, apart).signer()).toThrow(
      'does not match any public key',
    );
  });

  it.each([
    [
      'a file that is not there',
      { publicKeysFile: '/nowhere/signing.pub' },
      'TOLLGATE_TEAM_SIGNING_PUBLIC_KEY',
    ],
    ['a text that is no key', { publicKeys: 'hunter2hunter2' }, 'not an Ed25519 key'],
    [
      'a private key as a public one',
      { publicKeys: newSigningKeys().privateKey.reveal() },
      'not an Ed25519 key',
    ],
  ])('%s is refused without being repeated', async (_, config, named) => {
    const directory = await folder();
    const open = () => openTeamKeys(config, directory, apart).verifier();
    expect(open).toThrow(named);
    expect(open).not.toThrow(/hunter2|BEGIN/);
  });
});
