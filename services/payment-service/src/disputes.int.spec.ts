import { listDisputesAnswerSchema, serviceDisputeSchema } from '@tollgate/payment-api';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startCallbackReceiver, type CallbackReceiver } from './testing/callback-receiver.ts';
import { refusalOf, startHarness, type Harness } from './testing/harness.ts';
import { bankAccount, dayMs, tea } from './testing/samples.ts';

let harness: Harness;
let receiver: CallbackReceiver;
beforeEach(async () => {
  harness = await startHarness();
  receiver = await startCallbackReceiver();
});
afterEach(async () => {
  await harness.remove();
  await receiver.close();
});

const open = (body: object) => harness.call('POST', '/sandbox/disputes', body);
const resolve = (id: string, body: object) => harness.call('POST', `/sandbox/disputes/${id}/resolve`, body);
const openedId = async (body: object) => ((await open(body)).body['dispute'] as { id: string }).id;
const list = async () =>
  listDisputesAnswerSchema
    .parse((await harness.call('GET', '/api/v1/disputes/list')).body)
    .disputes.map((each) => serviceDisputeSchema.parse(each));
const refund = (body: object) => harness.call('POST', '/api/v1/refunds', body);

describe('a dispute', () => {
  it('is listed, sent by callback, and takes no money before it is lost', async () => {
    const token = await harness.createApproved({ orderNumber: 'D-1', callbackUrl: receiver.url });
    await receiver.waitFor(2);
    const answer = await open({ token, amount: 400, reasonCode: '13.1' });
    const [dispute] = await list();
    expect(answer.body['dispute']).toEqual(dispute);
    expect(dispute).toMatchObject({
      ...{ token, amount: 400, currency: 'EUR', status: 'pending', type: 'chargeback' },
      ...{ reasonCode: '13.1', comment: null, updatedAt: dispute?.createdAt },
    });
    expect((await harness.balance()).hold).toBe(tea.amount);
    await resolve(String(dispute?.id), { status: 'approved' });
    expect((await list())[0]?.status).toBe('approved');
    expect((await harness.balance()).hold).toBe(tea.amount - 400);
    await receiver.waitFor(4);
    const notice = { token, type: 'dispute', orderNumber: 'D-1', amount: 400, currency: 'EUR' };
    expect(receiver.received.slice(2)).toEqual([
      { ...notice, status: 'pending' },
      { ...notice, status: 'approved' },
    ]);
    expect((await harness.ledger('D-1')).disputes).toMatchObject([{ token, amount: 400 }]);
  });

  it('keeps its amount from being refunded, unless the merchant wins', async () => {
    const token = await harness.createApproved();
    const id = await openedId({ token, amount: 400 });
    expect(refusalOf(await refund({ token, amount: 851 }))).toEqual([409, 'refund_exceeds_amount', 'amount']);
    expect(refusalOf(await refund({ token }))).toEqual([409, 'refund_exceeds_amount', 'token']);
    await resolve(id, { status: 'declined' });
    expect(await harness.balance()).toEqual({ available: 0, hold: tea.amount });
    expect((await refund({ token })).statusCode).toBe(200);
  });

  it('that is lost after the money was paid out leaves a debt', async () => {
    const token = await harness.createApproved();
    await harness.advanceClock(dayMs);
    const payout = { amount: tea.amount, currency: 'EUR', orderNumber: 'x', destination: { bankAccount } };
    await harness.call('POST', '/api/v1/payouts', payout);
    await resolve(await openedId({ token }), { status: 'approved' });
    expect(await harness.balance()).toEqual({ available: 0, hold: 0 });
    await harness.createApproved({ amount: 2_000 });
    await harness.advanceClock(dayMs);
    expect(await harness.balance()).toEqual({ available: 2_000 - tea.amount, hold: 0 });
  });

  it('is listed among the newest hundred, newest first, to its merchant only', async () => {
    const token = await harness.createApproved();
    for (let amount = 1; amount <= 101; amount += 1) await open({ token, amount: 1 });
    await open({ token, amount: 2 });
    const disputes = await list();
    expect([disputes.length, disputes[0]?.amount]).toEqual([100, 2]);
    const stranger = `Bearer ${await harness.addMerchant({ name: 'stranger' })}`;
    const others = await harness.call('GET', '/api/v1/disputes/list', undefined, stranger);
    expect(others.body).toEqual({ success: true, disputes: [] });
    const [dispute] = disputes;
    const path = `/sandbox/disputes/${String(dispute?.id)}/resolve`;
    const answer = await harness.call('POST', path, { status: 'approved' }, stranger);
    expect(refusalOf(answer)).toEqual([404, 'payment_not_found', 'id']);
  });

  it('is refused where there is nothing to dispute', async () => {
    expect(refusalOf(await open({ token: 'x' }))).toEqual([404, 'payment_not_found', 'token']);
    const unpaid = await harness.create();
    expect(refusalOf(await open({ token: unpaid }))).toEqual([409, 'payment_in_final_state', 'token']);
    const token = await harness.createApproved();
    expect(refusalOf(await open({ token, amount: 1_251 }))).toEqual([400, 'incorrect_amount', 'amount']);
    const id = await openedId({ token });
    expect(refusalOf(await open({ token }))).toEqual([409, 'payment_in_final_state', 'token']);
    await resolve(id, { status: 'declined' });
    expect(refusalOf(await resolve(id, { status: 'approved' }))).toEqual([
      409,
      'payment_in_final_state',
      'id',
    ]);
  });

  it.each([
    ['token', {}],
    ['amount', { token: 'x', amount: 0 }],
    ['reasonCode', { token: 'x', reasonCode: 1 }],
    ['comment', { token: 'x', comment: 'x' }],
  ])('refuses a wrong %s (%j) by name', async (parameter, body) => {
    expect(refusalOf(await open(body))[2]).toBe(parameter);
  });

  it('is resolved as approved or declined only', async () => {
    expect(refusalOf(await resolve('x', { status: 'pending' }))).toEqual([400, 'invalid_param', 'status']);
    expect(refusalOf(await resolve('x', { status: 'approved' }))).toEqual([404, 'payment_not_found', 'id']);
  });
});

describe('GET /api/v1/disputes/list', () => {
  it('takes no parameters', async () => {
    const answer = await harness.call('GET', '/api/v1/disputes/list?page=1');
    expect(refusalOf(answer)).toEqual([400, 'invalid_param', 'page']);
  });

  it('can fail', async () => {
    await harness.setFaults({ operation: 'disputes', fault: 'rate_limited', times: 1 });
    expect((await harness.call('GET', '/api/v1/disputes/list')).statusCode).toBe(429);
  });
});
