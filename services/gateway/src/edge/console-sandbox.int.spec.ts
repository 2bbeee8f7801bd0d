/** The sandbox in the console: what a person's role allows. */
import type { EventStore } from '@tollgate/event-store';
import { givenTeam } from '@tollgate/teams/testing';
import { expect, it } from 'vitest';
import { startConsole } from './testing/console.ts';

it('without the role, no fault is set and no clock is moved', async () => {
  const received: string[] = [];
  const sandbox = {
    control: async (method: string, path: string) => {
      received.push(`${method} ${path}`);
      return { now: 'later' };
    },
  };
  const seed = async (store: EventStore) => {
    await givenTeam(store, { team: 'shop', keyId: 'k1' });
  };
  const { signIn } = await startConsole(seed, { sandbox });
  const viewer = await signIn('viewer', 'bob');
  const scenario = { scenario: 'lost-answer', team: 'shop', amount: '1', currency: 'EUR' };
  for (const [url, form] of [
    ['/console/sandbox/payments', scenario],
    ['/console/sandbox/clock', { seconds: '60' }],
  ] as const)
    expect(await viewer.sendAndRead(url, form)).toContain('Needs a role that may create payments.');
  expect(received).toEqual([]);
  const { sendAndRead } = await signIn('support');
  expect(await sendAndRead('/console/sandbox/clock', { seconds: '60' })).toContain('It is now later');
  // Without an account for it no payment is created: the fault is cleared.
  await sendAndRead('/console/sandbox/payments', scenario);
  expect(received).toEqual(['POST clock', 'POST faults', 'DELETE faults']);
});
