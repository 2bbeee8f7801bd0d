import { StoreUnavailable } from '@tollgate/event-store';
import type { Requester } from '@tollgate/core';
import { describe, expect, it } from 'vitest';
import { type App, errorsOf, startApp, teamCaller } from '../testing/app.ts';
import {
  type Instance,
  caller,
  payoutFor,
  quietMs,
  keepRecurringToken,
  recurringAlias,
  useHarness,
} from '@tollgate/core/testing';
import { balanceOf, holding } from '@tollgate/wallets/testing';
import { allGuards } from '../testing/guards.ts';

const harness = useHarness(() => ({ guardsOf: allGuards }));

const asker: Requester = { ...caller, wallet: { kind: 'own' }, approvalAbove: { EUR: 400 } };
const approver: Requester = { ...asker, keyId: 'second' };
const dayMs = 24 * 60 * 60 * 1000;

const appOf = (
  team: Requester,
  scopes: readonly ('payouts' | 'approvals' | 'read')[] = ['payouts', 'approvals'],
  instance?: Instance,
): App => startApp(harness(), { ...(instance && { instance }), team: { ...team, scopes: new Set(scopes) } });
const request = (orderNumber: string, amount = 500) => ({ ...payoutFor(orderNumber).request, amount });
const ask = (orderNumber = 'payout-1', amount = 500, by = asker) =>
  appOf(by).post('payouts', request(orderNumber, amount));
const decide = (token: string, decision: 'approve' | 'refuse', by = approver) =>
  appOf(by).post(`payouts/${token}/${decision}`, decision === 'refuse' ? { reason: 'not ours' } : {});
const compare = (token: string, account: string, by = approver) =>
  appOf(by).post(`payouts/${token}/check-destination`, { account });
const waiting = async (orderNumber = 'payout-1') => (await ask(orderNumber)).json<{ token: string }>().token;
const phaseOf = async (token: string) => (await harness().payouts.load(token))?.payout.phase;
const sent = () => harness().provider.payoutRequests;
const balance = () => balanceOf(harness(), asker);

/** A process that sleeps as it appends to such a stream. */
const sleeping = (prefix: string) => {
  const { wrapStore, reached, letGo } = holding(prefix);
  return { instance: harness().startInstance({ wrapStore }), isAsleep: reached, wake: letGo };
};

describe('the account number of an invoice', () => {
  it('is compared with the destination, however it is spaced, and other numbers differ', async () => {
    await harness().approved('order-1', 800, asker);
    const { amount, currency, orderNumber } = request('payout-1');
    const destination = { bankAccount: { bankName: 'A bank', account: 'DE02120300000000202051' } };
    const body = { amount, currency, orderNumber, destination, metadata: { invoice: '7' } };
    const { token } = (await appOf(asker).post('payouts', body)).json<{ token: string }>();
    for (const [account, isSame] of [
      ['DE02120300000000202051', true],
      ['DE02 1203 0000 0000 2020 51', true],
      ['DE02120300000000202052', false],
      ['2051', false],
    ] as const)
      expect((await compare(token, account)).json(), account).toEqual({ success: true, isSame });
    expect(errorsOf(await compare(token, ''))[0]).toBe(400);
    expect(errorsOf(await compare(`${token}x`, '2051'))[0]).toBe(404);
    await decide(token, 'refuse');
    expect(errorsOf(await compare(token, '2051'))[0]).toBe(409);
  });

  it('is refused if the payout goes to a recurring token', async () => {
    await harness().approved('order-1', 800, asker);
    await keepRecurringToken(harness());
    const body = { ...request('payout-1'), destination: { recurringToken: recurringAlias } };
    const { token } = (await appOf(asker).post('payouts', body)).json<{ token: string }>();
    expect(errorsOf(await compare(token, '2051'))).toEqual([
      400,
      'invalid_request_error invalid_param account',
    ]);
    // Nothing was compared, so the security log must not say that the number differs.
    const recorded: unknown[] = [];
    const recordResolution = async (...asked: unknown[]) => void recorded.push(asked);
    const instance = { ...harness(), inside: { ...harness().inside, recordResolution } };
    const team = { ...approver, scopes: new Set(['approvals'] as const) };
    const app = startApp(harness(), { team, instance });
    expect((await app.post(`payouts/${token}/check-destination`, { account: '2051' })).statusCode).toBe(400);
    expect(recorded).toEqual([]);
  });
});

describe('a payout above the sum of its team', () => {
  it('waits: 202, its amount is reserved, nothing is announced, and a repeat is answered alike', async () => {
    await harness().approved('order-1', 800, asker);
    const answer = await ask();
    expect(answer.statusCode).toBe(202);
    const shown = { status: 'pending', phase: 'awaiting_approval', approval: { askedBy: 'k' } };
    expect(answer.json()).toMatchObject({ success: true, payout: shown });
    const again = await ask();
    expect([again.statusCode, again.headers['idempotent-replayed']]).toEqual([202, 'true']);
    expect(again.json()).toEqual(answer.json());
    expect(await balance()).toEqual({ available: 300n, hold: 500n });
    expect(errorsOf(await ask('payout-2', 301))).toEqual([
      409,
      'processing_error payout_exceeds_balance amount',
    ]);
    expect(sent()).toEqual([]);
    expect(await harness().history(answer.json<{ token: string }>().token)).toEqual([
      'PayoutApprovalRequested',
    ]);
  });

  it('is one above it, in that currency; others are sent at once', async () => {
    await harness().approved('order-1', 800, asker);
    expect((await ask('payout-1', 400)).statusCode).toBe(200);
    expect((await ask('payout-2', 401)).json()).toMatchObject({
      errors: [{ code: 'payout_exceeds_balance' }],
    });
    const others = { ...asker, approvalAbove: { USD: 0 } };
    expect((await ask('payout-3', 400, others)).statusCode).toBe(200);
    expect(sent()).toHaveLength(2);
  });

  it('is sent by the repeat of its request when another key has approved it, once', async () => {
    await harness().approved('order-1', 500, asker);
    const token = await waiting();
    const approved = await decide(token, 'approve');
    expect([approved.statusCode, approved.json<{ payout: { phase: string } }>().payout.phase]).toEqual([
      200,
      'approval_granted',
    ]);
    expect(sent()).toEqual([]);
    const [one, two] = await Promise.all([ask(), ask()]);
    expect([one.statusCode, two.statusCode]).toEqual([200, 200]);
    expect((await ask()).json()).toMatchObject({ token, payout: { phase: 'approved' } });
    expect(sent()).toMatchObject([{ amount: 500, orderNumber: `${token}.1` }]);
    expect(await harness().history(token)).toEqual([
      ...['PayoutApprovalRequested', 'PayoutApprovalGranted', 'PayoutRequested'],
      ...['PayoutAccepted', 'PayoutApproved'],
    ]);
    expect(await balance()).toEqual({ available: 0n, hold: 0n });
  });

  it('to a recurring token is sent by the repeat', async () => {
    await harness().approved('order-1', 500, asker);
    await keepRecurringToken(harness());
    const input = { ...payoutFor('payout-1', { recurringToken: recurringAlias }), caller: asker };
    const first = await harness().payOut(input);
    const token = first.kind === 'answered' ? first.aggregate.token : '';
    await decide(token, 'approve');
    await harness().payOut(input);
    expect(sent()).toMatchObject([{ destination: { recurringToken: 'service-recurring' } }]);
  });

  it('is never decided by the requesting key, nor by another team, nor without the scope', async () => {
    await harness().approved('order-1', 500, asker);
    const token = await waiting();
    let asked = 0;
    const { provider } = harness().provider;
    provider.listPayouts = () => Promise.reject(new Error(`asked ${(asked += 1)} times`));
    for (const decision of ['approve', 'refuse'] as const) {
      expect(errorsOf(await decide(token, decision, asker))).toEqual([
        403,
        'authentication_error approval_by_requester',
      ]);
      for (const other of [{ team: 'stranger' }, { environment: 'production' as const }])
        expect(errorsOf(await decide(token, decision, { ...approver, ...other }))).toEqual([
          404,
          'invalid_request_error payout_not_found token',
        ]);
      const reader = appOf(approver, ['payouts', 'read']);
      expect((await reader.post(`payouts/${token}/${decision}`, { reason: 'x' })).statusCode).toBe(403);
    }
    expect(await phaseOf(token)).toBe('awaiting_approval');
    for (const none of ['po_none', 'pay_none', '../x'])
      expect((await decide(encodeURIComponent(none), 'approve')).statusCode).toBe(404);
    // None of them causes a call to the provider.
    expect(asked).toBe(0);
  });

  it('is decided only once its decider is recorded, once for each decision', async () => {
    await harness().approved('order-1', 500, asker);
    const token = await waiting();
    const recorded: unknown[] = [];
    let isAvailable = false;
    const recordResolution = async (...asked: unknown[]) => {
      if (!isAvailable) throw new StoreUnavailable('store_away', 'The store is away.');
      recorded.push(asked);
    };
    const { inside } = harness();
    const app = startApp(harness(), {
      team: { ...approver, scopes: new Set(['approvals'] as const) },
      instance: { ...harness(), inside: { ...inside, recordResolution } },
    });
    expect((await app.post(`payouts/${token}/approve`, {})).statusCode).toBe(503);
    expect(await phaseOf(token)).toBe('awaiting_approval');
    isAvailable = true;
    expect((await app.post(`payouts/${token}/approve`, {})).statusCode).toBe(200);
    expect(recorded).toEqual([
      [
        { team: approver.team, environment: 'sandbox', keyId: 'second', address: expect.any(String) },
        { token, code: 'awaiting_approval', number: 1, resolution: 'approve' },
      ],
    ]);
    expect((await app.post(`payouts/${token}/refuse`, { reason: 'not ours' })).statusCode).toBe(200);
    expect(recorded).toHaveLength(2);
    // Nothing is left to decide.
    await app.post(`payouts/${token}/refuse`, { reason: 'not ours' });
    expect(recorded).toHaveLength(2);
  });

  // The security log had no address for the decisions of people who were signed in.
  it('is recorded with the address of the person who decides it', async () => {
    await harness().approved('order-1', 500, asker);
    const token = await waiting();
    const recorded: { address: string }[] = [];
    const recordResolution = async (asked: { address: string }) => void recorded.push(asked);
    const operator = { person: 'ada', source: 'oidc', grants: [] } as const;
    const app = startApp(harness(), {
      authentication: {
        kind: 'caller',
        caller: { ...teamCaller, ...approver, scopes: new Set(['approvals'] as const), operator },
      },
      instance: { ...harness(), inside: { ...harness().inside, recordResolution } },
    });
    expect((await app.post(`payouts/${token}/approve`, {})).statusCode).toBe(200);
    expect(recorded).toMatchObject([{ team: approver.team, address: '127.0.0.1' }]);
  });

  it('is not inquired at the provider while it waits', async () => {
    await harness().approved('order-1', 500, asker);
    const token = await waiting();
    const before = { ...harness().provider.inquiries };
    expect([await harness().inquire(token), harness().provider.inquiries]).toEqual(['inquired', before]);
  });

  it('that is refused has failed, and its amount is free again', async () => {
    await harness().approved('order-1', 500, asker);
    const token = await waiting();
    expect((await appOf(approver).post(`payouts/${token}/refuse`, {})).statusCode).toBe(400);
    expect((await decide(token, 'refuse')).json()).toMatchObject({
      payout: { status: 'declined', phase: 'failed' },
    });
    expect(errorsOf(await ask())).toEqual([409, 'processing_error payout_approval_refused']);
    expect(errorsOf(await decide(token, 'approve'))).toEqual([
      ...[409, 'processing_error payout_not_awaiting_approval token'],
    ]);
    expect(await balance()).toEqual({ available: 500n, hold: 0n });
    expect(sent()).toEqual([]);
  });

  it.each(['awaiting', 'granted'])(
    'lapses after a day, %s: a repeat is answered so, and nothing is sent',
    async (state) => {
      await harness().approved('order-1', 500, asker);
      const token = await waiting();
      if (state === 'granted') await decide(token, 'approve');
      await harness().clock.advance(dayMs);
      expect((await decide(token, 'approve', { ...approver, keyId: 'third' })).statusCode).toBe(409);
      expect(errorsOf(await ask())).toEqual([409, 'processing_error payout_approval_lapsed']);
      expect(await balance()).toEqual({ available: 500n, hold: 0n });
      expect(sent()).toEqual([]);
    },
  );

  it('without an eligible account is refused before it waits', async () => {
    expect(errorsOf(await ask())).toEqual([409, 'processing_error payout_exceeds_balance amount']);
    const sent404 = await ask('payout-1', 500, { ...asker, environment: 'production' });
    expect(errorsOf(sent404)).toEqual([409, 'processing_error no_account currency']);
  });
});

// 500 had been taken when a payout of 500 was requested. They were refunded, a second key approved the payout, its repeat was
// sent, and 500 of other teams left.
describe('an approved payout whose money was refunded meanwhile is not sent', () => {
  const exceeds = [409, 'processing_error payout_exceeds_balance amount'];
  const approved = async (orderNumber = 'payout-1') => {
    const token = await waiting(orderNumber);
    await decide(token, 'approve');
    return token;
  };

  it('if the customer was refunded; once the team has income again, its repeat is sent', async () => {
    const payment = await harness().approved('order-1', 500, asker);
    const token = await approved();
    await harness().refund(payment, 'a', 300);
    expect(await balance()).toEqual({ available: -300n, hold: 500n });
    const answer = await ask();
    expect(errorsOf(answer)).toEqual(exceeds);
    expect(answer.json<{ errors: { message: string }[] }>().errors[0]!.message).toMatch('at most 2.00 EUR');
    expect([await phaseOf(token), sent()]).toEqual(['approval_granted', []]);
    await harness().approved('order-2', 300, asker);
    expect([(await ask()).statusCode, sent().length]).toEqual([200, 1]);
  });

  it('if the provider has revoked the approval', async () => {
    const payment = await harness().approved('order-1', 500, asker);
    await approved();
    const { providerOrderNumber } = (await harness().payments.load(payment))!.payment.attempt;
    harness().provider.change(providerOrderNumber, { status: 'declined' });
    await harness().inquire(payment);
    // Both sides disagree about the payment: its worst case is reserved besides the payout.
    expect(await balance()).toEqual({ available: -500n, hold: 1_000n });
    expect([errorsOf(await ask()), sent()]).toEqual([exceeds, []]);
  });

  it('nor is one of two at once: when the other one is refused, it is', async () => {
    const payment = await harness().approved('order-1', 1_000, asker);
    await approved('payout-1');
    const other = await approved('payout-2');
    await harness().refund(payment, 'a', 500);
    const answers = await Promise.all([ask('payout-1'), ask('payout-2')]);
    expect([answers.map(errorsOf), sent()]).toEqual([[exceeds, exceeds], []]);
    await decide(other, 'refuse');
    expect([(await ask('payout-1')).statusCode, sent().length]).toEqual([200, 1]);
  });

  it('and a sent one is answered to a later repeat, whatever was refunded since', async () => {
    const payment = await harness().approved('order-1', 500, asker);
    await approved();
    const slow = sleeping('reservations-');
    const input = { ...payoutFor('payout-1'), caller: asker };
    const repeat = slow.instance.payOut(input);
    await slow.isAsleep;
    expect((await ask()).statusCode).toBe(200);
    await harness().refund(payment, 'a', 500);
    slow.wake();
    expect(await repeat).toMatchObject({ kind: 'answered', replayed: true });
    expect(sent()).toHaveLength(1);
  });
});

// 500 had been taken. A process reserved 500 and slept; when that had lapsed, 500 were paid out otherwise. It woke and recorded
// that its payout waits; approved and repeated, it was sent too: 1,000
// of 500.
describe('a payout that waits, recorded by a process that slept after it had reserved', () => {
  const payOut = (orderNumber: string, amount: number, by = asker, instance: Instance = harness()) =>
    instance.payOut({ ...payoutFor(orderNumber), caller: by, request: request(orderNumber, amount) });
  const isPaidOut = { aggregate: { payout: { phase: 'approved' } } };
  const total = () => sent().reduce((sum, { amount }) => sum + amount, 0);

  async function wakeTooLate(by: Requester, reserved: string): Promise<string> {
    const { instance, wake } = sleeping('payout-');
    const late = payOut('payout-1', 500, by, instance);
    await expect.poll(() => harness().onDisk()).toContain(reserved);
    // From here on this process observes the other one's reservation.
    expect((await payOut('payout-0', 500, by)).kind).toBe('refused');
    await harness().clock.advance(quietMs);
    for (const [orderNumber, amount] of [
      ['payout-2', 300],
      ['payout-3', 200],
    ] as const)
      expect(await payOut(orderNumber, amount, by)).toMatchObject(isPaidOut);
    wake();
    const asked = await late;
    return asked.kind === 'answered' ? asked.aggregate.token : '';
  }

  it('is not sent: its amount stays reserved until it is refused', async () => {
    await harness().approved('order-1', 500, asker);
    const token = await wakeTooLate(asker, 'AmountsReserved');
    expect(await balance()).toEqual({ available: -500n, hold: 500n });
    await decide(token, 'approve');
    expect(await payOut('payout-1', 500)).toMatchObject({ refusal: { code: 'payout_exceeds_balance' } });
    expect(total()).toBe(500);
    await decide(token, 'refuse');
    expect(await balance()).toEqual({ available: 0n, hold: 0n });
  });

  it('is not sent next to a payout that was decided before it was recorded, and is reserved after it was approved', async () => {
    await harness().approved('order-1', 500, asker);
    const late = sleeping('payout-');
    const asking = payOut('payout-1', 500, asker, late.instance);
    await expect.poll(balance).toEqual({ available: 0n, hold: 500n });
    const other = sleeping('reservations-');
    expect((await payOut('payout-0', 400, asker, other.instance)).kind).toBe('refused');
    await harness().clock.advance(quietMs);
    const paying = payOut('payout-2', 400, asker, other.instance);
    await other.isAsleep;
    late.wake();
    const asked = await asking;
    await decide(asked.kind === 'answered' ? asked.aggregate.token : '', 'approve');
    expect(await payOut('payout-1', 500)).toMatchObject(isPaidOut);
    other.wake();
    expect(await paying).toMatchObject({ refusal: { code: 'payout_exceeds_balance' } });
    expect(total()).toBe(500);
  });
});

it('a payout counts under the limits of the day of its request, even if sent on the next one', async () => {
  const perDay = 500;
  const limit = {
    environment: 'sandbox',
    operation: 'payout',
    currency: 'EUR',
    perCall: null,
    perDay,
  } as const;
  const limited: Requester = { ...asker, wallet: { kind: 'provider' }, limits: [limit] };
  const token = (await ask('payout-1', 500, limited)).json<{ token: string }>().token;
  await harness().clock.advance((23 / 24) * dayMs);
  await decide(token, 'approve');
  await harness().clock.advance((2 / 24) * dayMs);
  expect((await ask('payout-1', 500, limited)).statusCode).toBe(200);
  expect((await ask('payout-2', 400, limited)).statusCode).toBe(200);
  expect(errorsOf(await ask('payout-3', 101, limited))[0]).toBe(422);
});

// Approved and repeated, it was sent through an account that had been drained since and had not taken it yet.
describe('an account that operators close', () => {
  const close = (state: 'draining' | 'paused' | 'active') =>
    harness().inside.accounts.setState('sandbox', 'main', state);
  const codeOf = (answer: { json(): unknown }) =>
    (answer.json() as { errors?: { code: string }[] }).errors?.[0]?.code;

  it.each([
    ['draining', 'account_draining'],
    ['paused', 'account_paused'],
  ] as const)('and that is %s then sends no payout that is approved later', async (state, code) => {
    await harness().approved('order-1', 800, asker);
    const token = await waiting();
    close(state);
    await decide(token, 'approve');
    expect([codeOf(await ask()), sent()]).toEqual([code, []]);
    close('active');
    expect([(await ask()).statusCode, sent().length]).toEqual([200, 1]);
  });

  it('is not requested, and nothing is reserved, if there is no other one', async () => {
    await harness().approved('order-1', 800, asker);
    close('draining');
    expect(codeOf(await ask())).toBe('account_draining');
    expect(await balance()).toEqual({ available: 800n, hold: 0n });
  });
});
