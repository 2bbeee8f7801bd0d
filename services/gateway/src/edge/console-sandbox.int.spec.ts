/** The sandbox in the console: roles, actions, and the calls that the Payment Service receives. */
import { TollgateError } from '@tollgate/service-kit';
import { givenTeam } from '@tollgate/teams/testing';
import { paymentKind } from '@tollgate/views';
import { projectEvents, happening, planted, requested } from '@tollgate/views/testing';
import { describe, expect, it } from 'vitest';
import { startConsole } from './testing/console.ts';

const { accepted, approved } = happening;
const serviceToken = `${planted}-service-token-1234`;

/** A payment that waits for its customer, one that is approved, one of production, and the calls that the sandbox received. */
async function start({ isRefusing = false } = {}) {
  const received: [method: string, path: string, body: unknown][] = [];
  const sandbox = {
    control: (method: string, path: string, body?: unknown) => {
      received.push([method, path, body]);
      return isRefusing
        ? Promise.reject(new TollgateError('sandbox_refused', 'It refuses.'))
        : Promise.resolve({});
    },
  };
  const console = await startConsole(
    async (store) => {
      await givenTeam(store, { team: 'shop', keyId: 'k1' });
      await projectEvents(store, paymentKind, 'pay_1', [requested(), accepted]);
      await projectEvents(store, paymentKind, 'pay_2', [requested(), accepted, approved]);
      const real = requested({ environment: 'production' });
      await projectEvents(store, paymentKind, 'pay_3', [real, accepted, approved]);
    },
    { sandbox },
  );
  return { ...console, received };
}

describe('the other side of a payment', () => {
  it('is played as its state allows, by its token at the Payment Service', async () => {
    const { signIn, received } = await start();
    const { get, send, sendAndRead } = await signIn('support');
    const played = async (token: string) =>
      [...(await get(`/console/payments/${token}`)).body.matchAll(/name="play" value="(\w+)"/g)].map(
        ([, name]) => name,
      );
    expect(await played('pay_1')).toEqual(['pay', 'decline']);
    expect(await played('pay_2')).toEqual(['revise', 'dispute']);
    expect(await played('pay_3')).toEqual([]);
    await send('/console/payments/pay_1/play', { play: 'pay' });
    await send('/console/payments/pay_2/play', { play: 'dispute' });
    const done = await sendAndRead('/console/payments/pay_2/play', { play: 'revise' });
    expect(done).toContain('Done at the Payment Service.');
    expect(received).toEqual([
      ['POST', `payments/${serviceToken}/pay`, { outcome: 'approved' }],
      ['POST', 'disputes', { token: serviceToken, amount: 1_500, reasonCode: 'fraud' }],
      ['POST', `payments/${serviceToken}/revise`, { status: 'declined' }],
    ]);
  });

  it('is refused without the role, and in a state that rules it out', async () => {
    const { signIn, received } = await start();
    const { sendAndRead } = await signIn('admin');
    for (const play of ['revise', 'constructor', ''])
      expect(await sendAndRead('/console/payments/pay_1/play', { play }), play).toContain(
        'The Payment Service does not allow this now.',
      );
    expect(await sendAndRead('/console/payments/pay_3/play', { play: 'revise' })).toContain(
      'Nothing was done.',
    );
    const viewer = await signIn('viewer', 'bob');
    await viewer.send('/console/payments/pay_1/play', { play: 'pay' });
    expect(received).toEqual([]);
  });

  it('reports a refusal by the sandbox', async () => {
    const { signIn } = await start({ isRefusing: true });
    const { sendAndRead } = await signIn('admin');
    expect(await sendAndRead('/console/payments/pay_1/play', { play: 'pay' })).toContain('Nothing was done.');
  });
});
