import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { readConfig } from '@tollgate/service-kit';
import { describe, expect, it, test } from 'vitest';
import { eventStoreEnvironmentSchema, toEventStoreConfig } from './event-store-config.ts';

const configOf = (env: Record<string, string>) =>
  toEventStoreConfig(readConfig(eventStoreEnvironmentSchema, env));
const secure = 'esdb://admin:hush@db.example';

it('is undefined without an address, with any other settings', () => {
  expect(configOf({ EVENTSTORE_USERNAME: 'admin' })).toBeUndefined();
  expect(configOf({ EVENTSTORE_URL: '' })).toBeUndefined();
});

it('removes the user from the address, and prefers that of the variables', () => {
  const user = { EVENTSTORE_USERNAME: 'gateway', EVENTSTORE_PASSWORD: 'hush too' };
  expect(configOf({ EVENTSTORE_URL: secure })?.credentials?.password.reveal()).toBe('hush');
  const config = configOf({ EVENTSTORE_URL: secure, ...user });
  expect(config?.credentials?.username).toBe('gateway');
  expect(config?.credentials?.password.reveal()).toBe('hush too');
  expect(inspect(config, { depth: 9 }) + JSON.stringify(config)).not.toContain('hush');
});

it('trusts the authority of a file', () => {
  const file = join(tmpdir(), 'tollgate-eventstoredb-ca.pem');
  writeFileSync(file, 'an authority');
  expect(configOf({ EVENTSTORE_URL: `${secure}?tlsCaFile=${file}` })?.tls).toEqual({ ca: 'an authority' });
  expect(configOf({ EVENTSTORE_URL: secure })?.tls).toEqual({});
});

test.each(['localhost', '127.0.0.1:2113', '[::1]:2113'])('may go without TLS to %s', (host) => {
  expect(configOf({ EVENTSTORE_URL: `esdb://${host}?tls=false` })?.tls).toBe(false);
});

it('may go without TLS anywhere if that is allowed', () => {
  const env = { EVENTSTORE_URL: 'esdb://db.example?tls=false', EVENTSTORE_ALLOW_INSECURE: 'true' };
  expect(configOf(env)).toMatchObject({ tls: false, hosts: [{ address: 'db.example', port: 2113 }] });
});

describe('a wrong setting is named, and no value is repeated', () => {
  test.each([
    [{ EVENTSTORE_URL: 'http://hush' }, 'EVENTSTORE_URL'],
    [{ EVENTSTORE_URL: 'esdb://db.example?tls=false' }, 'EVENTSTORE_ALLOW_INSECURE'],
    [{ EVENTSTORE_URL: 'esdb://127.0.0.1,127.0.0.2?tls=false' }, 'EVENTSTORE_ALLOW_INSECURE'],
    [{ EVENTSTORE_URL: 'esdb://127.hush.example?tls=false' }, 'EVENTSTORE_ALLOW_INSECURE'],
    [{ EVENTSTORE_URL: 'esdb://db.example' }, 'EVENTSTORE_PASSWORD'],
    [{ EVENTSTORE_URL: 'esdb://db.example', EVENTSTORE_PASSWORD: 'hush' }, 'EVENTSTORE_USERNAME'],
    [{ EVENTSTORE_URL: secure, EVENTSTORE_ALLOW_INSECURE: 'hush' }, 'EVENTSTORE_ALLOW_INSECURE'],
    [{ EVENTSTORE_URL: `${secure}?tlsCaFile=/nowhere/hush` }, 'tlsCaFile'],
  ])('%j: %s', (env, says) => {
    expect(() => configOf(env as Record<string, string>)).toThrow(says);
    expect(() => configOf(env as Record<string, string>)).not.toThrow('hush');
  });
});
