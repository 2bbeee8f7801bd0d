/** The page of one payment: metadata, timeline, and actions to repeat. */
import { disputeKind, paymentKind } from '@tollgate/views';
import { projectEvents, disputeOpened, happening, requested } from '@tollgate/views/testing';
import { describe, expect, it } from 'vitest';
import { hostile, startWithShop } from './testing/console.ts';

const { accepted, approved, refunding, refundApproved } = happening;

const start = () =>
  startWithShop(async (store) => {
    const events = [
      ...[requested({ metadata: { basket: '4711', note: hostile } }), accepted, approved],
      ...[refunding, refundApproved],
    ];
    await projectEvents(store, paymentKind, 'pay_1', events);
    const dispute = disputeOpened({ team: 'shop', paymentToken: 'pay_1' });
    await projectEvents(store, disputeKind, 'dsp_1', [dispute]);
  });

describe('the page of a payment', () => {
  it("shows the team's metadata as text, each with a link to payments with the same", async () => {
    const { signIn } = await start();
    const { get, read } = await signIn('viewer');
    const { body } = await get('/console/payments/pay_1');
    const link = /href="(\/console\/payments\?metadata%5Bbasket%5D=4711)"/.exec(body)?.[1] ?? '';
    await read(link, '/console/payments/pay_1');
    expect(body).toContain('Metadata note');
    expect(body).not.toContain('<script>alert');
  });

  it('has refunds and disputes as lanes of the one timeline, and a way to leave each out', async () => {
    const { signIn } = await start();
    const { read } = await signIn('viewer');
    const body = await read('/console/payments/pay_1', 'Dispute over');
    expect(body).toMatch(/class="refund good"[\s\S]*The refund was approved/);
    expect(body).toMatch(/<li class="dispute note">[\s\S]*chargeback · 10\.4/);
    for (const lane of ['event', 'refund', 'call', 'dispute']) expect(body).toContain(`show-${lane}`);
    // Empty lanes are omitted.
    for (const lane of ['webhook', 'callback']) expect(body).not.toContain(`show-${lane}`);
  });

  it('a review about a refund explains the effect on the refund, not on the payment', async () => {
    const { signIn } = await startWithShop(async (store) => {
      const opened = {
        type: 'ReviewOpened',
        data: {
          code: 'refund_unresolved',
          evidence: { refundToken: 'ref_1', amount: 500, observedRefundedAmount: 1_400 },
        },
      } as const;
      const events = [requested(), accepted, approved, refunding, happening.refundUnresolved, opened];
      await projectEvents(store, paymentKind, 'pay_1', events);
    });
    const { read } = await signIn('operator');
    const body = await read('/console/reviews/pay_1/refund_unresolved/1', '5.00 EUR count as refunded');
    expect(body).toContain('the customer may get 5.00 EUR twice');
    expect(body).toContain('<dd>14.00 EUR</dd>');
  });

  it('a review with one allowed answer shows it as the button, without a choice', async () => {
    const { signIn } = await startWithShop(async (store) => {
      const opened = { type: 'ReviewOpened', data: { code: 'capture_unresolved', evidence: {} } } as const;
      const events = [
        requested(),
        accepted,
        happening.held,
        happening.confirming,
        happening.captureUnresolved,
        opened,
      ];
      await projectEvents(store, paymentKind, 'pay_1', events);
    });
    const { read } = await signIn('admin');
    const body = await read(
      '/console/reviews/pay_1/capture_unresolved/1',
      'A capture was sent several times',
    );
    expect(body).toMatch(/<button class="strong grave">Check again</);
    expect(body).not.toContain('type="radio"');
  });

  it('a failing page shows its request id', async () => {
    const { signIn } = await start();
    const answer = await (await signIn('viewer')).get('/console/payments/pay_9');
    expect(answer.statusCode).toBe(404);
    expect(answer.body).toMatch(/data-copy="req_\w+"/);
    const nowhere = await (await signIn('viewer')).get('/console/nowhere');
    expect(nowhere.body).toContain(`data-copy="${String(nowhere.headers['request-id'])}"`);
  });

  it('a missing webhook is not sent again, and the page shows its request id', async () => {
    const { signIn } = await start();
    const { sendAndRead } = await signIn('support');
    const of = { token: 'pay_1', team: 'shop', environment: 'sandbox' };
    const body = await sendAndRead('/console/webhooks/whk_none/replay', of);
    expect(body).toMatch(/data-outcome="bad">[\s\S]*No webhook has this id[\s\S]*req_/);
  });
});
