import { temporaryStore } from '@tollgate/event-store/testing';
import { createSecurityLog } from '@tollgate/teams';
import { appendTeamEvents, testTeamKeys } from '@tollgate/teams/testing';
import { silentLog, systemIds } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { runWith, toolsWith } from './testing/run-with.ts';

async function start() {
  const clock = createFakeClock();
  const parts = { store: await temporaryStore(), clock, ids: systemIds, log: silentLog };
  const tools = toolsWith({ ...parts, teamKeys: testTeamKeys });
  const run = (command: string) => runWith(tools, command);
  const json = async (command: string) => JSON.parse((await run(`${command} --json`)).out);
  await run('team add shop --as anna');
  await clock.advance(86_400_000);
  await run('key issue shop --environment sandbox --scopes read --as ben');
  return { ...parts, run, json };
}

it('audit shows who changed what, including changes while no gateway ran', async () => {
  const { run, json } = await start();
  const { out, exitCode } = await run('audit');
  expect(exitCode).toBe(0);
  expect(out).toMatch(/TeamChanged {2}anna {2}team=shop {2}revision=0 {2}change=TeamAdded/);
  expect(out).toMatch(/TeamChanged {2}ben .*change=KeyIssued/);
  expect(await json('audit --since 7d --team shop --kind team')).toMatchObject([
    { type: 'TeamChanged', actor: { name: 'anna' } },
    { type: 'TeamChanged', actor: { name: 'ben' }, data: { detail: { scopes: ['read'] } } },
  ]);
  for (const none of ['--kind access', '--team games', '--since 2031-01-01'])
    expect((await run(`audit ${none}`)).out).toBe('No entry matches.\n');
  expect(await json('audit --limit 1')).toHaveLength(1);
});

it('audit escapes terminal control characters', async () => {
  const { run, ...parts } = await start();
  const data = {
    code: 'incorrect_private_key',
    address: '203.0.113.7',
    keyIdPrefix: '\u001b[2J',
    count: 1,
    from: 0,
    until: 0,
  };
  const event = { type: 'AccessRefused', data } as const;
  await createSecurityLog(parts).record([{ event, actor: { kind: 'service', name: 'gateway' } }]);
  expect((await run('audit --kind access')).out).toMatch(/^[^\p{Cc}]+\n$/u);
});

it('audit verify prints the head, and compares a noted one', async () => {
  const { run, json } = await start();
  const { head } = await json('audit verify');
  expect(head).toEqual({ revision: 1, hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
  await run('team add games');
  const grown = await run(`audit verify --head ${head.hash}`);
  expect([grown.exitCode, grown.out]).toEqual([0, expect.stringContaining('Entries: 3. Head: ')]);
  const missing = await run(`audit verify --head ${'0'.repeat(64)}`);
  expect([missing.exitCode, missing.out]).toEqual([1, expect.stringContaining('missing at the end')]);
});

it('audit verify names an inserted row, and a team event that differs from the log', async () => {
  const { run, store, clock, ids, log } = await start();
  await appendTeamEvents(store, 'shop', [{ type: 'KeyRevoked', data: { keyId: 'k1' } }]);
  await run('audit');
  const gone = { team: 'shop', stream: 'team-shop', revision: 9, change: 'KeyRevoked', detail: {} };
  const event = { type: 'TeamChanged', data: { ...gone, signature: 's' } } as const;
  await createSecurityLog({ store, clock, ids, log }).record([
    { event, actor: { kind: 'service', name: 'gateway' } },
  ]);
  const row = { id: systemIds.uuid(), type: 'OperatorActed', data: {}, metadata: {} };
  await store.append('security-log', [row], 'any');
  const { exitCode, out } = await run('audit verify');
  expect([exitCode, out]).toEqual([1, expect.stringMatching(/Entry \d was changed/)]);
  expect(out).toContain('Event 9 of team-shop is in the security log, but was removed or changed');
});
