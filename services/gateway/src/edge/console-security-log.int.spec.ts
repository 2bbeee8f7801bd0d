/** The security log in the console: filtered, paged, and with a sign of whether it is as it was written. */
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { createSecurityLog } from '@tollgate/teams';
import { givenTeam } from '@tollgate/teams/testing';
import { expect, it } from 'vitest';
import { hostile, startConsole } from './testing/console.ts';

const start = () =>
  startConsole(async (store) => {
    await givenTeam(store, { team: 'shop', keyId: 'k1' });
    const log = createSecurityLog({ store, clock: systemClock, ids: systemIds, log: silentLog });
    const ofPerson = (command: string) => ({
      event: { type: 'OperatorActed' as const, data: { command, detail: { note: hostile } } },
      actor: { kind: 'person' as const, name: `ada ${hostile}`, source: 'command-line' as const },
    });
    const exported = { team: 'shop', keyId: 'k1', environment: 'sandbox' as const, address: '192.0.2.1' };
    await log.record([
      ...Array.from({ length: 60 }, (_, place) => ofPerson(`command ${place}`)),
      {
        event: { type: 'ExportMade', data: { ...exported, route: '/x', count: 1, from: 1, until: 1 } },
        actor: { kind: 'team', team: 'shop', keyId: 'k1' },
      },
    ]);
  });

const page = '/console/security-log';

it('is shown newest first, by kind and by team, and what somebody typed is text', async () => {
  const { get } = await (await start()).signIn('viewer');
  const { body } = await get(page);
  expect(body).toContain('The 50 entries up to here are as they were written');
  expect(body).toContain('Payments left as a file');
  expect(body).toContain('command 59');
  expect(body).not.toMatch(/command 3<|<script>alert|<img/);
  const older = /href="(\/console\/security-log\?cursor=\d+)"/.exec(body)?.[1] ?? '';
  expect((await get(older)).body).toContain('command 3<');
  expect((await get(`${page}?kind=export`)).body).not.toContain('command 59');
  expect((await get(`${page}?team=shop`)).body).not.toContain('command 59');
  expect((await get(`${page}?kind=nothing`)).statusCode).toBe(400);
  expect((await get(`${page}?cursor=x`)).statusCode).toBe(400);
});

it('says where somebody has changed it', async () => {
  const { signIn, store } = await start();
  await store.append(
    'security-log',
    [{ id: systemIds.uuid(), type: 'OperatorActed', data: { command: 'forged', detail: {} }, metadata: {} }],
    'any',
  );
  const { get } = await signIn('admin');
  expect((await get(page)).body).toContain('Entry 61 is not as it was written');
});
