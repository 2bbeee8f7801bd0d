import type { EventStore } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { eventMetadataSchema } from '@tollgate/core';
import { teamStream } from './team.ts';
import { createFakeClock, createFakeIds } from '@tollgate/testing';
import { describe, expect, test } from 'vitest';
import { appendTeamEvents, testTeamKeys } from './testing/teams.ts';
import { createTeams } from './teams.ts';

const anna = { kind: 'person', name: 'anna@shop.example', source: 'command-line' } as const;

async function start() {
  const store = await temporaryStore();
  const teams = createTeams({
    store,
    teamKeys: testTeamKeys,
    clock: createFakeClock(),
    ids: createFakeIds(),
    actor: anna,
  });
  return { store, teams };
}

const recorded = async (store: EventStore, team: string) =>
  Array.fromAsync(store.read(teamStream(team)), ({ type, metadata }) => ({ type, metadata }));

const allow = (...origins: string[]) => ({
  type: 'AllowOrigins' as const,
  purpose: 'callback' as const,
  origins,
});

describe('a change of a team', () => {
  test('is recorded with its author and time', async () => {
    const { store, teams } = await start();
    expect(await teams.change('shop', () => [{ type: 'AddTeam', name: 'shop' }])).toBeUndefined();
    const [event] = await recorded(store, 'shop');
    expect(event?.type).toBe('TeamAdded');
    expect(eventMetadataSchema.parse(event?.metadata)).toMatchObject({
      actor: anna,
      recordedAt: createFakeClock().now(),
    });
  });

  test('of several parts is atomic, each part seeing the result of the previous one', async () => {
    const { store, teams } = await start();
    await teams.change('shop', () => [{ type: 'AddTeam', name: 'shop' }, allow('https://shop.example')]);
    expect((await recorded(store, 'shop')).map(({ type }) => type)).toEqual(['TeamAdded', 'OriginsAllowed']);
  });

  test('is not made if one part is refused', async () => {
    const { store, teams } = await start();
    const refusal = await teams.change('shop', () => [{ type: 'AddTeam', name: 'shop' }, allow('ftp://a')]);
    expect(refusal).toEqual({ code: 'origin_invalid', origin: 'ftp://a' });
    expect(await recorded(store, 'shop')).toEqual([]);
    expect(await teams.find('shop')).toBeUndefined();
  });
});

test('teams are listed by name', async () => {
  const { teams } = await start();
  for (const name of ['shop', 'games', 'shop-2']) await teams.change(name, () => [{ type: 'AddTeam', name }]);
  expect((await teams.list()).map(({ name }) => name)).toEqual(['games', 'shop', 'shop-2']);
});

test('an unreadable record is reported, and not written to', async () => {
  const { store, teams } = await start();
  await appendTeamEvents(store, 'shop', [{ type: 'TeamRenamed', data: {} } as never]);
  const unreadable = { code: 'team_unreadable', message: expect.stringContaining('team-shop') };
  await expect(teams.list()).rejects.toMatchObject(unreadable);
  await expect(teams.find('shop')).rejects.toMatchObject(unreadable);
  await expect(teams.change('shop', () => [allow()])).rejects.toMatchObject(unreadable);
  expect(await recorded(store, 'shop')).toHaveLength(1);
});
