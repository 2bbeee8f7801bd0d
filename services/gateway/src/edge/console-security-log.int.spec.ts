/** The security log in the console: filtered, paged, and with a sign of whether it is as it was written. */
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { createSecurityLog } from '@tollgate/teams';
import { expect, it } from 'vitest';
import { hostile, startWithShop } from './testing/console.ts';

const limit = { environment: 'sandbox', operation: 'payout', currency: 'EUR', perCall: null };

const start = () =>
  startWithShop(async (store) => {
    const log = createSecurityLog({ store, clock: systemClock, ids: systemIds, log: silentLog });
    const ofPerson = (command: string) => ({
      event: { type: 'OperatorActed' as const, data: { command, detail: { note: hostile } } },
      actor: { kind: 'person' as const, name: `ada ${hostile}`, source: 'command-line' as const },
    });
    const exported = { team: 'shop', keyId: 'k1', environment: 'sandbox' as const, address: '192.0.2.1' };
    const resolved = {
      team: 'shop',
      environment: 'sandbox' as const,
      keyId: 'person:Bob',
      address: '',
      token: 'pay_1',
      code: 'discrepancy',
      number: 1,
      resolution: 'keep_ours',
    };
    await log.record([
      ...Array.from({ length: 60 }, (_, place) => ofPerson(`command ${place}`)),
      {
        event: {
          type: 'TeamChanged',
          data: {
            team: 'shop',
            stream: 'team-shop',
            revision: 2,
            change: 'MoneyLimited',
            signature: 's',
            detail: { ...limit, perDay: 100_000 },
            before: { ...limit, perDay: 50_000 },
          },
        },
        actor: { kind: 'person', name: 'Ann', source: 'oidc' },
      },
      {
        event: { type: 'ExportMade', data: { ...exported, route: '/x', count: 1, from: 1, until: 1 } },
        actor: { kind: 'team', team: 'shop', keyId: 'k1' },
      },
      {
        event: { type: 'ReviewResolutionAsked', data: resolved },
        actor: { kind: 'team', team: 'shop', keyId: resolved.keyId, address: '' },
      },
    ]);
  });

const page = '/console/security-log';
const asText = (body: string): string => body.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ');

it('is shown newest first, by kind and by team, with user input as text', async () => {
  const { get } = await (await start()).signIn('viewer');
  const { body } = await get(page);
  expect(body).toContain('The hash chain of these 50 entries is intact.');
  expect(body).toContain('Key k1 of team shop exported /x.');
  expect(asText(body)).toContain(
    'Ann raised the daily payout limit of team shop from 500.00 EUR to 1,000.00 EUR.',
  );
  expect(asText(body)).toContain('Bob resolved “discrepancy” with “keep ours”: pay_1. sandbox');
  expect(asText(body)).not.toMatch(/Key person|, from (?!192)/);
  expect(body).toContain('command 59');
  expect(body).not.toMatch(/command 3<|<script>alert|<img/);
  const older = /href="(\/console\/security-log\?cursor=\d+)"/.exec(body)?.[1] ?? '';
  expect((await get(older)).body).toContain('command 3<');
  expect((await get(`${page}?kind=export`)).body).not.toContain('command 59');
  expect((await get(`${page}?team=shop`)).body).not.toContain('command 59');
  for (const filter of ['person=Ann', 'change=MoneyLimited']) {
    const filtered = (await get(`${page}?${filter}`)).body;
    expect(filtered, filter).toContain('Ann raised');
    expect(filtered, filter).not.toMatch(/command 59|exported/);
  }
  expect((await get(`${page}?change=nothing`)).statusCode).toBe(400);
  expect((await get(`${page}?kind=nothing`)).statusCode).toBe(400);
  expect((await get(`${page}?cursor=x`)).statusCode).toBe(400);
});

it('shows where it was tampered with', async () => {
  const { signIn, store } = await start();
  await store.append(
    'security-log',
    [{ id: systemIds.uuid(), type: 'OperatorActed', data: { command: 'forged', detail: {} }, metadata: {} }],
    'any',
  );
  const { get } = await signIn('admin');
  expect((await get(page)).body).toContain('Entry 63 was changed');
});
