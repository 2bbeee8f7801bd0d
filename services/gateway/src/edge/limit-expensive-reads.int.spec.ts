import { givenTeam, keyText } from '@tollgate/teams/testing';
import { eventually } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { startApi } from './testing/api.ts';

const authorizationOf = (team: string, keyId: string) => `Bearer ${keyText({ team, keyId })}`;

async function start() {
  const { app } = await startApi(async (store) => {
    await givenTeam(store, { team: 'shop', keyId: 'k1', scopes: ['read'] });
    await givenTeam(store, { team: 'games', keyId: 'k2', scopes: ['read'] });
  });
  const get = (url: string, authorization: string) => app.inject({ url, headers: { authorization } });
  return { get };
}

// Eight connections of one read key delayed another team's payment by eleven seconds: requests were counted, and not their cost.
it('a key has four expensive reads at the same time, and cheap ones are not counted', async () => {
  const { get } = await start();
  const shop = authorizationOf('shop', 'k1');
  const many = await Promise.all(Array.from({ length: 12 }, () => get('/api/v1/events', shop)));
  const refused = many.filter(({ statusCode }) => statusCode === 429);
  expect(refused).toHaveLength(8);
  for (const { headers, body } of refused) {
    expect(headers['retry-after']).toBe('1');
    expect(body).toContain('too_many_reads');
  }
  // The places are free again.
  await eventually(async () => expect((await get('/api/v1/events', shop)).statusCode).toBe(200));
  const cheap = await Promise.all(
    Array.from({ length: 12 }, () => get('/api/v1/payments?perPage=100', shop)),
  );
  expect(cheap.map(({ statusCode }) => statusCode)).toEqual(Array.from({ length: 12 }, () => 200));
});

it('another key has places of its own', async () => {
  const { get } = await start();
  const [own, other] = await Promise.all([
    Promise.all(Array.from({ length: 6 }, () => get('/api/v1/events', authorizationOf('shop', 'k1')))),
    Promise.all(Array.from({ length: 4 }, () => get('/api/v1/events', authorizationOf('games', 'k2')))),
  ]);
  expect(own.filter(({ statusCode }) => statusCode === 429)).toHaveLength(2);
  expect(other.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
});
