import { silentLog } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import Fastify, { type FastifyRequest } from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { registerLive } from './live.ts';
import type { Session } from './session/sessions.ts';

const page = '/console/payments?amountFrom=5000';

/** The cookie is `<role> <session>`. Building a page takes `slowMs` of the clock's time. */
async function start({ slowMs = 0 } = {}) {
  const ended = new Set<string>();
  const sessionOf = ({ headers: { cookie = '' } }: Pick<FastifyRequest, 'headers'>) => {
    const [grants = '', id = ''] = cookie.replace('tollgate-console=', '').split(' ');
    const isSignedIn = grants !== '' && !ended.has(id);
    return Promise.resolve(isSignedIn ? { session: { grants, id } as unknown as Session } : {});
  };
  const renew = ({ grants, id }: Session) => `${grants as unknown as string} ${id}`;
  const standing = createFakeClock();
  const looks = { count: 0 };
  const clock = { ...standing, monotonic: () => standing.monotonic() + looks.count * slowMs };
  const shown = { text: 'as it was' };
  const app = Fastify({ forceCloseConnections: true });
  app.get('/console/payments', async () => {
    looks.count += 1;
    return shown.text;
  });
  registerLive(app, { sessions: { of: sessionOf, renew } as never, clock, log: silentLog });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(() => app.close());
  const watch = async (cookie: string, watched = page) => {
    const leaving = new AbortController();
    onTestFinished(() => leaving.abort());
    const address = `${url}/console/live?page=${encodeURIComponent(watched)}`;
    const { status, body } = await fetch(address, { headers: { cookie }, signal: leaving.signal });
    let text = '';
    const isOver = (async () => {
      for await (const chunk of body ?? []) text += Buffer.from(chunk).toString();
    })().catch(() => undefined);
    return {
      status,
      isOver,
      leave: () => leaving.abort(),
      announced: () => text.split('changed').length - 1,
    };
  };
  return { looks, shown, ended, watch, pass: (ms: number) => standing.advance(ms) };
}

// Building the page per tab would let viewers with many tabs slow down payments.
it('a page is built once for all of its watchers with the same role, and each of them is notified', async () => {
  const { looks, shown, watch, pass } = await start();
  const [ada, bob] = [await watch('viewer s1'), await watch('viewer s2')];
  await expect.poll(() => [ada.announced(), bob.announced()]).toEqual([1, 1]);
  shown.text = 'another';
  await pass(1_000);
  expect(looks.count).toBe(2);
  await expect.poll(() => [ada.announced(), bob.announced()]).toEqual([2, 2]);
  const admin = await watch('admin s3');
  await expect.poll(() => admin.announced()).toBe(1);
  expect(looks.count).toBe(3);
});

it('a slow page uses at most a tenth of the time', async () => {
  const { looks, watch, pass } = await start({ slowMs: 500 });
  const { announced } = await watch('viewer s1');
  await expect.poll(announced).toBe(1);
  await pass(4_999);
  expect(looks.count).toBe(1);
  await pass(1);
  expect(looks.count).toBe(2);
});

it('continues for the remaining watchers with their own sessions, and stops after the last', async () => {
  const { looks, shown, ended, watch, pass } = await start();
  const [ada, bob] = [await watch('viewer s1'), await watch('viewer s2')];
  await expect.poll(() => [ada.announced(), bob.announced()]).toEqual([1, 1]);
  ended.add('s1');
  shown.text = 'another';
  await pass(1_000);
  await ada.isOver;
  await expect.poll(bob.announced).toBe(2);
  expect(ada.announced()).toBe(1);
  bob.leave();
  await bob.isOver;
  // The server notices the disconnect slightly later.
  await expect
    .poll(async () => {
      const before = looks.count;
      await pass(1_000);
      return looks.count - before;
    })
    .toBe(0);
});

// A viewer's tab must not request an account's balance from the Payment Service each second.
it.each(['/console/accounts?balance=sandbox%20a', '/console/accounts?x=1&%62alance=a', '/console/live'])(
  'does not watch %s',
  async (address) => {
    const { watch } = await start();
    expect((await watch('viewer s1', address)).status).toBe(400);
  },
);
