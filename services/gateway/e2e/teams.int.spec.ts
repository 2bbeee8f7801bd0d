/** Keys of a team by the command line in its own process, with a running gateway. */
import { eventually } from '@tollgate/testing';
import { request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { tollgate } from './commands.ts';
import { type System, startSystem, stopEverything } from './system.ts';

/** Maximum time from the end of the command until every instance applies it. */
const withinASecond = { timeoutMs: 1_000, intervalMs: 5 };

let system: System;
beforeAll(async () => {
  system = await startSystem();
}, 60_000);
afterAll(stopEverything);

const issueKey = (team: string, scopes = 'payments,read') =>
  tollgate<{ key: string; keyId: string }>(
    system,
    ...['key', 'issue', team, '--environment', 'sandbox', '--scopes', scopes],
  );

async function statusWith(key: string): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  const { statusCode, body } = await request(`${system.quickstart.gatewayUrl}/api/v1/payments`, { headers });
  await body.dump();
  return statusCode;
}

const counts = async (key: string) => expect(await statusWith(key)).toBe(200);
const refuses = async (key: string) => expect(await statusWith(key)).toBe(401);

let tries = 0;

// The documented second assumes a spare core, so the request is repeated.
it(
  'a key that the command line issues or revokes counts, or does not, in a running gateway within a second',
  { retry: 2, timeout: 60_000 },
  async () => {
    const team = `shop-${(tries += 1)}`;
    await tollgate(system, 'team', 'add', team);
    const first = await issueKey(team);
    await eventually(() => counts(first.key), withinASecond);

    // Rotation: the next key is valid before the old one is revoked, and after.
    const second = await issueKey(team);
    await eventually(() => counts(second.key), withinASecond);
    await counts(first.key);
    await tollgate(system, 'key', 'revoke', team, first.keyId);
    await eventually(() => refuses(first.key), withinASecond);
    await counts(second.key);
    await eventually(async () => {
      const keys = await tollgate<{ active: boolean; lastUsedAt: string | null }[]>(
        system,
        'key',
        'list',
        team,
      );
      expect(keys.map(({ active }) => active)).toEqual([false, true]);
      expect(keys[1]?.lastUsedAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:00Z$/);
    });
  },
);
