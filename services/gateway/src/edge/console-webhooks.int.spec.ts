/** Webhooks that were not delivered, in the console and under the routes across teams. */
import { createWebhookJournal } from '@tollgate/webhooks';
import type { EventStore } from '@tollgate/event-store';
import { systemClock, systemIds } from '@tollgate/service-kit';
import { appendTeamEvents, givenTeam, originsAllowed } from '@tollgate/teams/testing';
import { eventually } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { hostile, startWithShop } from './testing/console.ts';

const cause = { correlationId: 'c', causationId: 'c' };

/** One webhook each, with the outcomes of its attempts; `down` ends without a further one. */
async function givenWebhooks(store: EventStore): Promise<void> {
  const journal = createWebhookJournal({ store, clock: systemClock, ids: systemIds });
  const due = (token: string, team: string, url: string) =>
    journal.recordDue(
      token,
      [
        {
          id: `whk_${token}`,
          environment: 'sandbox' as const,
          team,
          url,
          at: systemClock.now(),
          body: { token, type: 'payment', status: 'approved', orderNumber: null, amount: 1, currency: 'EUR' },
        },
      ],
      cause,
    );
  for (const token of ['pay_a', 'pay_b', 'pay_c', 'pay_d'])
    await due(token, token === 'pay_b' ? 'games' : 'shop', `https://shop.example/?${hostile}`);
  await journal.recordOutcome('pay_a', 'whk_pay_a', { kind: 'answered', statusCode: 200 });
  await journal.recordOutcome('pay_d', 'whk_pay_d', { kind: 'answered', statusCode: 500 });
  for (const token of ['pay_b', 'pay_c'])
    for (let tries = 0; tries < 20; tries += 1) {
      const { state } = await journal.recordOutcome(token, `whk_${token}`, {
        kind: 'failed',
        reason: 'timeout',
      });
      if (state.webhooks[0]?.state === 'given_up') break;
    }
}

const start = () =>
  startWithShop(async (store) => {
    await givenTeam(store, { team: 'games', keyId: 'k2' });
    await appendTeamEvents(store, 'games', [originsAllowed('callback', 'https://games.example')]);
    await givenWebhooks(store);
  });

const page = '/console/webhooks';

describe('webhooks that were not delivered', () => {
  it('are shown over all teams with every attempt, and by team, without delivered ones', async () => {
    const { get } = await (await start()).signIn('viewer');
    const failed = (await get(page)).body;
    expect(failed).toContain('pay_b');
    expect(failed).toContain('pay_c');
    expect(failed).not.toMatch(/pay_a|pay_d|<script>alert/);
    expect((await get(`${page}?team=games`)).body).not.toContain('pay_c');
    const open = (await get(`${page}?status=open`)).body;
    expect(open).toContain('pay_d');
    expect(open).toContain('HTTP 500');
    // A viewer sends nothing.
    expect(failed).not.toContain('/replay"');
    expect((await get(`${page}?cursor=x`)).statusCode).toBe(400);
  });

  it('are counted on the overview, with the disabled endpoints, each with a link', async () => {
    const { app, bearerOf, signIn } = await start();
    const ask = (method: 'POST' | 'PATCH', url: string, payload: object) =>
      app.inject({
        method,
        url,
        payload,
        headers: {
          authorization: bearerOf('operator'),
          'tollgate-team': 'games',
          'tollgate-environment': 'sandbox',
        },
      });
    const endpoints = '/api/v1/webhook-endpoints';
    const added = await ask('POST', endpoints, { url: 'https://games.example/hook' });
    const { id } = added.json<{ endpoint: { id: string } }>().endpoint;
    const { get } = await signIn('viewer');
    await eventually(async () => expect((await get('/console')).body).toMatch(/<b>2<\/b> undelivered/));
    expect((await get('/console')).body).not.toContain('https://games.example/hook');
    await ask('PATCH', `${endpoints}/${id}`, { status: 'disabled' });
    await eventually(async () =>
      expect((await get('/console')).body).toMatch(
        /disabled webhook endpoint[\s\S]*games \(sandbox\) https:\/\/games\.example\/hook/,
      ),
    );
    await ask('PATCH', `${endpoints}/${id}`, { status: 'enabled' });
    await eventually(async () =>
      expect((await get('/console')).body).not.toContain('disabled webhook endpoint'),
    );
  });

  it('are replayed one by one, and recorded before', async () => {
    const { signIn, recorded, store } = await start();
    const { get, sendAndRead } = await signIn('support');
    expect(await sendAndRead(`${page}/whk_pay_b/replay`, {})).toContain('Sent again.');
    expect(recorded.at(-1)).toMatchObject({
      person: { name: 'ada' },
      command: 'POST /api/v1/admin/webhooks/replay',
      detail: { id: 'whk_pay_b', role: 'support' },
    });
    const last = (await Array.fromAsync(store.read('webhook-pay_b'))).at(-1);
    expect(last).toMatchObject({
      type: 'ReplayRequested',
      metadata: { actor: { kind: 'person', name: 'ada' } },
    });
    await expect.poll(async () => (await get(page)).body).not.toContain('pay_b');
    expect(await sendAndRead(`${page}/whk_none/replay`, {})).toContain('No webhook has this id');
  });

  it('are replayed in bulk, optionally of one team, after a confirmation with their count', async () => {
    const { signIn } = await start();
    const { get, sendAndRead } = await signIn('operator');
    expect((await get(page)).body).toContain('Sends 2 webhooks again to the receivers of all teams');
    expect((await get(`${page}?team=shop`)).body).toContain('Sends 1 webhook again to the receivers of shop');
    const done = await sendAndRead(`${page}/replay`, { team: 'shop', environment: '' });
    expect(done).toContain('1 webhook is sent again.');
    await expect.poll(async () => (await get(page)).body).not.toContain('pay_c');
    expect((await get(page)).body).toContain('pay_b');
    expect(await sendAndRead(`${page}/replay`, { team: 'nobody' })).toContain('0 webhooks are sent again.');
  });
});
