/** The contract of every provider, in memory or over the network. */
import { beforeAll, describe, expect, test, afterAll } from 'vitest';
import type { AuthorizeRequest, InquiryOutcome, Provider } from '@tollgate/core';
import type { Operation } from '@tollgate/core/testing';

/** A provider whose customers and network a test controls. */
export interface ProviderUnderTest {
  provider: Provider;
  /** The customer pays on the hosted page: at once, or authorizes the amount if the capture is deferred. */
  customerPays(serviceToken: string): Promise<void>;
  /** The next call of this operation takes effect, and its answer is lost. */
  loseAnswer(operation: Operation): Promise<void>;
  /** The same provider as an account that it refuses. */
  refusedAccount: Provider;
  /** The same provider without a listener. */
  unreachable: Provider;
  close(): Promise<void>;
}

const anyTime = () => true;
const card = { pan: '4392963203551251', expires: '12/2099', holder: 'Ada Lovelace', cvv: '987' };

export function describeProvider(name: string, open: () => Promise<ProviderUnderTest>): void {
  let under: ProviderUnderTest;
  let provider: Provider;
  let numbers = 0;
  const nextNumber = () => `order-${(numbers += 1)}`;

  beforeAll(async () => {
    under = await open();
    ({ provider } = under);
  });
  afterAll(() => under.close());

  const request = (changes: Partial<AuthorizeRequest> = {}): AuthorizeRequest => ({
    product: 'Tea',
    amount: 1250,
    currency: 'EUR',
    orderNumber: nextNumber(),
    callbackUrl: 'http://127.0.0.1:9/callbacks',
    isCaptureDeferred: false,
    isRecurring: false,
    ...changes,
  });

  async function authorized(changes: Partial<AuthorizeRequest> = {}): Promise<string> {
    const outcome = await provider.authorize(request(changes), anyTime);
    if (outcome.kind !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(outcome)}`);
    return outcome.serviceToken;
  }
  async function paid(changes: Partial<AuthorizeRequest> = {}): Promise<string> {
    const token = await authorized(changes);
    await under.customerPays(token);
    return token;
  }
  function answerOf<Answer>(outcome: InquiryOutcome<Answer>): Answer {
    if (outcome.kind === 'accepted') return outcome.answer;
    throw new Error(`no answer: ${JSON.stringify(outcome)}`);
  }
  const inquire = async (token: string) => answerOf(await provider.inquirePayment(token)).observed;

  const payOut = () => ({
    amount: 500,
    currency: 'EUR',
    orderNumber: nextNumber(),
    callbackUrl: 'http://127.0.0.1:9/callbacks',
    destination: { bankAccount: { bankName: 'Example Bank', account: 'DE89370400440532013000' } },
  });

  describe(`${name}: authorize`, () => {
    test('a hosted payment is accepted with a token and a page, and waits for the customer', async () => {
      const wanted = request();
      const outcome = await provider.authorize(wanted, anyTime);
      expect(outcome).toMatchObject({
        kind: 'accepted',
        serviceToken: expect.any(String),
        processingUrl: expect.stringMatching(/^https:/),
      });
      const [found, ...others] = answerOf(await provider.listPayments(wanted));
      expect(others).toEqual([]);
      expect(found?.observed).toMatchObject({
        status: 'init',
        amount: 1250,
        currency: 'EUR',
        orderNumber: wanted.orderNumber,
        authorizedAmount: 0,
        refundedAmount: 0,
        createdAt: expect.any(Number),
      });
      expect(found).toMatchObject({ callbackUrl: wanted.callbackUrl, product: wanted.product });
      expect(outcome).toMatchObject({ serviceToken: found?.observed.serviceToken });
    });

    test('a card is charged at once', async () => {
      expect(await inquire(await authorized({ source: { card } }))).toMatchObject({ status: 'approved' });
    });

    test('a recurring token is issued on request, and can be charged', async () => {
      const first = answerOf(await provider.inquirePayment(await paid({ isRecurring: true })));
      expect(first.recurringToken).toEqual(expect.any(String));
      const { recurringToken = '' } = first;
      const second = await authorized({ source: { recurringToken } });
      expect(await inquire(second)).toMatchObject({ status: 'approved' });
    });

    test('if the answer is lost the outcome is unknown, and the payment is found by its order number', async () => {
      const wanted = request();
      await under.loseAnswer('authorize');
      expect(await provider.authorize(wanted, anyTime)).toMatchObject({
        kind: 'unknown',
        reason: expect.any(String),
      });
      expect(answerOf(await provider.listPayments(wanted))).toHaveLength(1);
    });
  });

  describe(`${name}: capture and void`, () => {
    test('the authorized amount is shown until it is captured', async () => {
      const token = await paid({ isCaptureDeferred: true });
      expect(await inquire(token)).toMatchObject({ status: 'pending', authorizedAmount: 1250 });
      expect(await provider.capture(token, anyTime)).toMatchObject({ kind: 'accepted' });
      expect(await inquire(token)).toMatchObject({ status: 'approved', authorizedAmount: 0 });
    });

    test('voided, the payment is declined and nothing is authorized', async () => {
      const token = await paid({ isCaptureDeferred: true });
      expect(await provider.void(token, anyTime)).toMatchObject({ kind: 'accepted' });
      expect(await inquire(token)).toMatchObject({ status: 'declined', authorizedAmount: 0 });
    });

    test.each(['capture', 'void'] as const)('%s is refused if nothing is authorized', async (operation) => {
      for (const token of [await authorized(), await paid()])
        expect(await provider[operation](token, anyTime)).toMatchObject({
          kind: 'refused',
          errors: [expect.objectContaining({ code: expect.any(String) })],
        });
    });

    test.each(['capture', 'void'] as const)(
      'if the answer of a %s is lost, its effect shows',
      async (operation) => {
        const token = await paid({ isCaptureDeferred: true });
        await under.loseAnswer(operation);
        expect(await provider[operation](token, anyTime)).toMatchObject({ kind: 'unknown' });
        expect(await inquire(token)).toMatchObject({ authorizedAmount: 0 });
      },
    );
  });

  describe(`${name}: refund`, () => {
    test('the refunded sum grows by each refund, and never exceeds the paid amount', async () => {
      const serviceToken = await paid();
      expect(await provider.refund({ serviceToken, amount: 250 }, anyTime)).toMatchObject({
        kind: 'accepted',
        amount: 250,
        currency: 'EUR',
        status: 'approved',
        serviceRefundToken: expect.any(String),
      });
      expect(await inquire(serviceToken)).toMatchObject({ status: 'approved', refundedAmount: 250 });
      expect(await provider.refund({ serviceToken, amount: 1001 }, anyTime)).toMatchObject({
        kind: 'refused',
      });
      expect(await provider.refund({ serviceToken, amount: 1000 }, anyTime)).toMatchObject({
        kind: 'accepted',
      });
      expect(await inquire(serviceToken)).toMatchObject({ status: 'refunded' });
    });

    test('if the answer is lost, the refunded sum shows the effect', async () => {
      const serviceToken = await paid();
      await under.loseAnswer('refund');
      expect(await provider.refund({ serviceToken, amount: 250 }, anyTime)).toMatchObject({
        kind: 'unknown',
      });
      expect(await inquire(serviceToken)).toMatchObject({ refundedAmount: 250 });
    });
  });

  describe(`${name}: payout`, () => {
    test('a payout is accepted, and found by its token and its order number', async () => {
      await paid();
      const wanted = payOut();
      const outcome = await provider.payout(wanted, anyTime);
      expect(outcome).toMatchObject({ kind: 'accepted', amount: 500, currency: 'EUR' });
      const [found, ...others] = answerOf(await provider.listPayouts(wanted));
      expect(others).toEqual([]);
      expect(found).toMatchObject({ amount: 500, currency: 'EUR', orderNumber: wanted.orderNumber });
      const again = answerOf(await provider.inquirePayout(found?.serviceToken ?? ''));
      expect(again).toEqual(found);
    });

    test('if the answer is lost, the payout is found by its order number', async () => {
      await paid();
      const wanted = payOut();
      await under.loseAnswer('payout');
      expect(await provider.payout(wanted, anyTime)).toMatchObject({ kind: 'unknown' });
      expect(answerOf(await provider.listPayouts(wanted))).toHaveLength(1);
    });
  });

  describe(`${name}: inquiries`, () => {
    test('an unknown token is missing', async () => {
      expect(await provider.inquirePayment('nobody')).toEqual({ kind: 'missing' });
      expect(await provider.inquirePayout('nobody')).toEqual({ kind: 'missing' });
    });

    test('an unused order number returns an empty list, which proves that nothing was created', async () => {
      const query = { orderNumber: nextNumber() };
      expect(await provider.listPayments(query)).toEqual({ kind: 'accepted', answer: [] });
      expect(await provider.listPayouts(query)).toEqual({ kind: 'accepted', answer: [] });
    });

    const toDay = (instant: number | undefined) => new Date(instant ?? NaN).toISOString().slice(0, 10);
    const onlyDay = (day: string) => ({ from: day, to: day, page: 1 });
    const anotherDay = { from: '2020-01-01', to: '2020-01-02', page: 1 };

    test('a page of payments has those of its days, newest first, and no payout', async () => {
      const tokens = [await authorized(), await authorized()];
      const { createdAt } = await inquire(tokens[1] ?? '');
      const { found, total } = answerOf(await provider.pageOfPayments(onlyDay(toDay(createdAt))));
      expect(found.slice(0, 2).map(({ observed }) => observed.serviceToken)).toEqual(tokens.toReversed());
      expect(found.every(({ observed }) => toDay(observed.createdAt) === toDay(createdAt))).toBe(true);
      expect(total).toBe(found.length);
      const next = { ...onlyDay(toDay(createdAt)), page: 2 };
      expect(answerOf(await provider.pageOfPayments(next))).toEqual({ found: [], total });
      expect(answerOf(await provider.pageOfPayments(anotherDay))).toEqual({ found: [], total: 0 });
    });

    test('a page of payouts has those of its days, and no payment', async () => {
      await paid();
      const wanted = payOut();
      await provider.payout(wanted, anyTime);
      const [made] = answerOf(await provider.listPayouts(wanted));
      const { found } = answerOf(await provider.pageOfPayouts(onlyDay(toDay(made?.createdAt))));
      expect(found[0]).toEqual(made);
      expect(found.map(({ amount }) => amount)).toEqual(found.map(() => 500));
      expect(answerOf(await provider.pageOfPayouts(anotherDay))).toEqual({ found: [], total: 0 });
    });

    test('the balance is in minor units of the currency', async () => {
      const balance = answerOf(await provider.balance('EUR'));
      expect(balance.currency).toBe('EUR');
      for (const sum of [balance.available, balance.hold]) expect(Number.isSafeInteger(sum)).toBe(true);
    });

    test('the list of disputes is answered', async () => {
      expect(answerOf(await provider.listDisputes())).toEqual({ found: expect.any(Array), unreadable: 0 });
    });
  });

  describe(`${name}: without effect`, () => {
    test('a refused account is distinguished from a refused request', async () => {
      expect(await under.refusedAccount.authorize(request(), anyTime)).toMatchObject({
        kind: 'refused',
        isAccountRefused: true,
      });
      const outcome = await provider.capture(await authorized(), anyTime);
      expect(outcome).toMatchObject({ kind: 'refused' });
      expect(outcome).not.toHaveProperty('isAccountRefused');
    });

    // A process once slept during the connection's handshake, and sent the call when it woke up: money left twice.
    test('a call whose deadline has passed when its first byte would leave is not sent', async () => {
      const wanted = request();
      const tooLate = () => false;
      const serviceToken = await paid();
      const outcomes = [
        await provider.authorize(wanted, tooLate),
        await provider.capture(serviceToken, tooLate),
        await provider.void(serviceToken, tooLate),
        await provider.refund({ serviceToken, amount: 250 }, tooLate),
        await provider.payout({ ...wanted, destination: { card } }, tooLate),
      ];
      expect(outcomes.map(({ kind }) => kind)).toEqual(Array.from(outcomes, () => 'not-sent'));
      const { orderNumber } = wanted;
      expect(answerOf(await provider.listPayments({ orderNumber }))).toEqual([]);
      expect(answerOf(await provider.listPayouts({ orderNumber }))).toEqual([]);
      expect((await inquire(serviceToken)).refundedAmount).toBe(0);
    });

    test('without a listener, nothing is sent', async () => {
      expect(await under.unreachable.authorize(request(), anyTime)).toMatchObject({ kind: 'not-sent' });
    });
  });
}
