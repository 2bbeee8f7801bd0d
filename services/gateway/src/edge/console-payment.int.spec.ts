/** The page of one payment: what was noted beside it, what led to what, and what of it can be sent again. */
import { givenTeam } from '@tollgate/teams/testing';
import { eventually } from '@tollgate/testing';
import { disputeKind, paymentKind } from '@tollgate/views';
import { projectEvents } from '@tollgate/view-index/testing';
import { disputeOpened, happening, requested } from '@tollgate/views/testing';
import { describe, expect, it } from 'vitest';
import { hostile, startConsole } from './testing/console.ts';

const { accepted, approved, refunding, refundApproved } = happening;

const start = () =>
  startConsole(async (store) => {
    await givenTeam(store, { team: 'shop', keyId: 'k1' });
    const events = [
      ...[requested({ metadata: { basket: '4711', note: hostile } }), accepted, approved],
      ...[refunding, refundApproved],
    ];
    await projectEvents(store, paymentKind, 'pay_1', events);
    const dispute = disputeOpened({ team: 'shop', paymentToken: 'pay_1' });
    await projectEvents(store, disputeKind, 'dsp_1', [dispute]);
  });

describe('the page of a payment', () => {
  it('shows what a team has noted; each leads to what has the same, and is text', async () => {
    const { signIn } = await start();
    const { get } = await signIn('viewer');
    const { body } = await get('/console/payments/pay_1');
    const link = /href="(\/console\/payments\?metadata%5Bbasket%5D=4711)"/.exec(body)?.[1] ?? '';
    await eventually(async () => expect((await get(link)).body).toContain('/console/payments/pay_1'));
    expect(body).toContain('Metadata note');
    expect(body).not.toContain('<script>alert');
  });

  it('has refunds and disputes as lanes of the one timeline, and a way to leave each out', async () => {
    const { signIn } = await start();
    const { get } = await signIn('viewer');
    const read = async () => (await get('/console/payments/pay_1')).body;
    await eventually(async () => expect(await read()).toContain('A dispute was opened for'));
    const body = await read();
    expect(body).toMatch(/class="refund good"[\s\S]*The refund was approved/);
    expect(body).toMatch(/<li class="dispute note">[\s\S]*chargeback · 10\.4/);
    for (const lane of ['event', 'refund', 'call', 'dispute']) expect(body).toContain(`show-${lane}`);
    // What there is none of has no lane.
    for (const lane of ['webhook', 'callback']) expect(body).not.toContain(`show-${lane}`);
  });

  it('a webhook that is not there is not sent again, and the page says by which request', async () => {
    const { signIn } = await start();
    const { sendAndRead } = await signIn('support');
    const body = await sendAndRead('/console/payments/pay_1/webhooks', { id: 'whk_none' });
    expect(body).toMatch(/data-outcome="">[\s\S]*No webhook of this payment has this id[\s\S]*req_/);
    const viewer = await signIn('viewer', 'bob');
    expect(await viewer.sendAndRead('/console/payments/pay_1/webhooks', { id: 'whk_none' })).toMatch(
      /data-outcome="">[\s\S]*lacks the scope/,
    );
  });
});
