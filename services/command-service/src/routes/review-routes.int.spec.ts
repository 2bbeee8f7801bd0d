import { describe, expect, it } from 'vitest';
import { errorsOf, startApp } from '../testing/app.ts';
import { payoutFor, teaFor, useHarness } from '@tollgate/core/testing';

const harness = useHarness();

const kept = {
  code: 'discrepancy',
  number: 1,
  resolution: 'keep_ours',
  reason: 'seen at the bank',
};
const pathOf = (token: string) => `reviews/${token}/resolve`;

async function puzzlingPayment(): Promise<string> {
  const created = await harness().create(teaFor('order-1'));
  if (created.kind !== 'answered') throw new Error(created.kind);
  const { token } = created.aggregate;
  harness().provider.change(`${token}.1`, { status: 'on_the_moon' });
  await harness().inquire(token);
  return token;
}

async function puzzlingPayout(): Promise<string> {
  harness().provider.payoutStatus = 'on_the_moon';
  const result = await harness().payOut(payoutFor('order-1'));
  if (result.kind !== 'answered') throw new Error(result.kind);
  return result.aggregate.token;
}

describe('POST /api/v1/reviews/{token}/resolve answers', () => {
  it('200 with the payment as it is then', async () => {
    const token = await puzzlingPayment();
    const answer = await startApp(harness()).post(pathOf(token), kept);
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({ success: true, token, payment: { token, reviews: [] } });
    expect(answer.headers['tollgate-position']).toMatch(/^\d+$/);
  });

  it('200 with the payout as it is then', async () => {
    const token = await puzzlingPayout();
    const answer = await startApp(harness()).post(pathOf(token), kept);
    expect(answer.json()).toMatchObject({ success: true, token, payout: { token, reviews: [] } });
  });

  it('400 without the number of the review', async () => {
    const token = await puzzlingPayment();
    const { number: _, ...withoutNumber } = kept;
    const answer = await startApp(harness()).post(pathOf(token), withoutNumber);
    expect(errorsOf(answer)).toEqual([400, 'invalid_request_error invalid_param number']);
    expect(answer.body).toContain('list of reviews');
  });

  it('404 if it is not open, also the second time', async () => {
    const token = await puzzlingPayment();
    const app = startApp(harness());
    const notFound = [404, 'invalid_request_error review_not_found code'];
    expect(errorsOf(await app.post(pathOf(token), { ...kept, code: 'capture_unresolved' }))).toEqual(
      notFound,
    );
    // Of payouts only.
    expect(errorsOf(await app.post(pathOf(token), { ...kept, code: 'payout_not_found' }))).toEqual(notFound);
    // Of this code, but another one.
    expect(errorsOf(await app.post(pathOf(token), { ...kept, number: 2 }))).toEqual(notFound);
    await app.post(pathOf(token), kept);
    expect(errorsOf(await app.post(pathOf(token), kept))).toEqual(notFound);
  });

  it('409 to a resolution that it does not have, and names those that it has', async () => {
    const token = await puzzlingPayment();
    const answer = await startApp(harness()).post(pathOf(token), { ...kept, resolution: 'refund_made' });
    expect(errorsOf(answer)).toEqual([409, 'processing_error resolution_not_allowed resolution']);
    expect(answer.body).toContain('keep_ours, check_again');
  });

  it.each(['accept_theirs', 'refund_not_made', 'payout_not_made'])(
    '403 to a key that answers %s',
    async (resolution) => {
      const token = await puzzlingPayment();
      const answer = await startApp(harness()).post(pathOf(token), { ...kept, resolution });
      expect(errorsOf(answer)).toEqual([403, 'authentication_error operator_required']);
    },
  );

  it('404 if there is no such payment or payout of this team', async () => {
    const payment = await puzzlingPayment();
    const payout = await puzzlingPayout();
    const app = startApp(harness());
    const others = startApp(harness(), { team: { team: 'others' } });
    const noPayment = [404, 'invalid_request_error payment_not_found token'];
    const noPayout = [404, 'invalid_request_error payout_not_found token'];
    expect(errorsOf(await app.post(pathOf('pay_unknown'), kept))).toEqual(noPayment);
    expect(errorsOf(await others.post(pathOf(payment), kept))).toEqual(noPayment);
    expect(errorsOf(await app.post(pathOf('po_unknown'), kept))).toEqual(noPayout);
    expect(errorsOf(await others.post(pathOf(payout), kept))).toEqual(noPayout);
    expect(errorsOf(await app.post(pathOf('..%2fpayment'), kept))).toEqual(noPayment);
  });
});
