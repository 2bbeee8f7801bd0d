import { inspect } from 'node:util';
import { describe, expect, it, test } from 'vitest';
import { parseConnectionString } from './connection-string.ts';

const parse = (text: string) => parseConnectionString(text, 'EVENTSTORE_URL');

it('reads one node, encrypted, at the usual port', () => {
  expect(parse('esdb://db.example')).toEqual({
    discovers: false,
    tls: true,
    hosts: [{ address: 'db.example', port: 2113 }],
  });
});

it('uses several hosts, or one DNS name, to find the nodes', () => {
  expect(parse('esdb://a:1,b:2')).toMatchObject({ discovers: true, hosts: [{ port: 1 }, { port: 2 }] });
  expect(parse('kurrentdb+discover://db.example/')).toMatchObject({ discovers: true });
});

it('reads options in any case', () => {
  const text = 'esdb://db?TLS=false&tls_ca_file=%2Fca.pem&connectionName=one&nodePreference=leader';
  expect(parse(text)).toMatchObject({
    tls: false,
    tlsCaFile: '/ca.pem',
    connectionName: 'one',
  });
});

it('reads a user, and keeps the password to itself', () => {
  const parsed = parse('esdb://admin:hu%40sh@db.example');
  expect(parsed.credentials?.username).toBe('admin');
  expect(parsed.credentials?.password.reveal()).toBe('hu@sh');
  expect(inspect(parsed, { depth: 9 }) + JSON.stringify(parsed)).not.toContain('hu@sh');
});

describe("an unreadable one is refused with the variable's name, and not printed", () => {
  test.each([
    ['hush', 'must be esdb://'],
    ['http://hush', 'must be esdb://'],
    ['esdb://', 'must be esdb://'],
    ['esdb://hush:x', 'host:port'],
    ['esdb://hush:70000', 'host:port'],
    ['esdb://admin:hush:x@db', 'user:password'],
    ['esdb://hush@db', 'user:password'],
    ['esdb://admin:hush%@db', 'percent-encoded'],
    ['esdb+discover://hush,b', 'takes one name'],
    ['esdb://db?hush=1', 'an option that is none of'],
    ['esdb://db?tls=hush', 'tls'],
    ['esdb://db?tlsVerifyCert=false', 'tlsCaFile'],
    ['esdb://db?nodePreference=follower', 'nodePreference'],
    ['esdb://db?tlsCaFile=%hush', 'percent-encoded'],
  ])('%s: %s', (text, says) => {
    expect(() => parse(text)).toThrow(says);
    expect(() => parse(text)).toThrow('EVENTSTORE_URL');
    expect(() => parse(text)).not.toThrow('hush');
  });
});
