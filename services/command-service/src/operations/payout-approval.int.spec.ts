import { StoreUnavailable } from '@tollgate/event-store';
import type { Caller } from '@tollgate/teams';
import { describe, expect, it } from 'vitest';
import { type App, errorsOf, startApp } from '../testing/app.ts';
import { caller, payoutFor } from '../testing/harness.ts';
import { keepRecurringToken, recurringAlias } from '../testing/operation-cases.ts';
import { useHarness } from '../testing/use-harness.ts';

const harness = useHarness();

const asker: Caller = { ...caller, wallet: { kind: 'own' }, approvalAbove: { EUR: 400 } };
const approver: Caller = { ...asker, keyId: 'second' };
const dayMs = 24 * 60 * 60 * 1000;

const appOf = (
  team: Caller,
  scopes: readonly ('payouts' | 'approvals' | 'read')[] = ['payouts', 'approvals'],
): App => startApp(harness(), { team: { ...team, scopes: new Set(scopes) } });
const request = (orderNumber: string, amount = 500) => ({ ...payoutFor(orderNumber).request, amount });
const ask = (orderNumber = 'payout-1', amount = 500, by = asker) =>
  appOf(by).post('payouts', request(orderNumber, amount));
const decide = (token: string, decision: 'approve' | 'refuse', by = approver) =>
  appOf(by).post(`payouts/${token}/${decision}`, decision === 'refuse' ? { reason: 'not ours' } : {});
const waiting = async (orderNumber = 'payout-1') => (await ask(orderNumber)).json<{ token: string }>().token;
const phaseOf = async (token: string) => (await harness().payouts.load(token))?.payout.phase;
const sent = () => harness().provider.payoutRequests;
const balance = () => harness().positions.balance(asker, 'EUR');

describe('a payout above the sum of its team', () => {
  it('waits: 202, its amount is reserved, nothing is announced, and a repeat is answered alike', async () => {
    await harness().approved('order-1', 800);
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
      'processing_error payout_exceeds_position amount',
    ]);
    expect(sent()).toEqual([]);
    expect(await harness().history(answer.json<{ token: string }>().token)).toEqual([
      'PayoutApprovalRequested',
    ]);
  });

  it('is one above it, in that currency; what is not above it is sent at once', async () => {
    await harness().approved('order-1', 800);
    expect((await ask('payout-1', 400)).statusCode).toBe(200);
    expect((await ask('payout-2', 401)).json()).toMatchObject({
      errors: [{ code: 'payout_exceeds_position' }],
    });
    const others = { ...asker, approvalAbove: { USD: 0 } };
    expect((await ask('payout-3', 400, others)).statusCode).toBe(200);
    expect(sent()).toHaveLength(2);
  });

  it('is sent by the repeat of its request when another key has approved it, once', async () => {
    await harness().approved('order-1', 500);
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

  it('to a recurring token is sent by the repeat, too', async () => {
    await harness().approved('order-1', 500);
    await keepRecurringToken(harness());
    const input = { ...payoutFor('payout-1', { recurringToken: recurringAlias }), caller: asker };
    const first = await harness().payOut(input);
    const token = first.kind === 'answered' ? first.aggregate.token : '';
    await decide(token, 'approve');
    await harness().payOut(input);
    expect(sent()).toMatchObject([{ destination: { recurringToken: 'service-recurring' } }]);
  });

  it('is never decided by the key that asked, nor by another team, nor without the scope', async () => {
    await harness().approved('order-1', 500);
    const token = await waiting();
    for (const decision of ['approve', 'refuse'] as const) {
      expect(errorsOf(await decide(token, decision, asker))).toEqual([
        403,
        'authentication_error approval_by_requester',
      ]);
      const stranger = { ...approver, team: 'stranger' };
      expect(errorsOf(await decide(token, decision, stranger))).toEqual([
        404,
        'invalid_request_error payout_not_found token',
      ]);
      const production = { ...approver, environment: 'production' as const };
      expect(errorsOf(await decide(token, decision, production))).toEqual([
        404,
        'invalid_request_error payout_not_found token',
      ]);
      const reader = appOf(approver, ['payouts', 'read']);
      expect((await reader.post(`payouts/${token}/${decision}`, { reason: 'x' })).statusCode).toBe(403);
    }
    expect(await phaseOf(token)).toBe('awaiting_approval');
    for (const none of ['po_none', 'pay_none', '../x'])
      expect((await decide(encodeURIComponent(none), 'approve')).statusCode).toBe(404);
  });

  it('is decided only when it is on record who asks for it, once for each decision', async () => {
    await harness().approved('order-1', 500);
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
        { team: approver.team, keyId: 'second', address: expect.any(String) },
        { token, code: 'awaiting_approval', number: 1, resolution: 'approve' },
      ],
    ]);
    expect((await app.post(`payouts/${token}/refuse`, { reason: 'not ours' })).statusCode).toBe(200);
    expect(recorded).toHaveLength(2);
    // Nothing is left to decide.
    await app.post(`payouts/${token}/refuse`, { reason: 'not ours' });
    expect(recorded).toHaveLength(2);
  });

  it('that is refused has failed, and its amount is free again', async () => {
    await harness().approved('order-1', 500);
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
    'lapses after a day, %s: a repeat says so, and nothing is sent',
    async (state) => {
      await harness().approved('order-1', 500);
      const token = await waiting();
      if (state === 'granted') await decide(token, 'approve');
      await harness().clock.advance(dayMs);
      expect((await decide(token, 'refuse')).statusCode).toBe(409);
      expect(errorsOf(await ask())).toEqual([409, 'processing_error payout_approval_lapsed']);
      expect(await balance()).toEqual({ available: 500n, hold: 0n });
      expect(sent()).toEqual([]);
    },
  );

  it('that has lapsed is ended by the inquiry schedule; before, an inquiry asks and changes nothing', async () => {
    await harness().approved('order-1', 500);
    const token = await waiting();
    const { received } = harness().provider;
    const before = received.length;
    expect(await harness().inquire(token)).toBe('inquired');
    expect([await phaseOf(token), received.length]).toEqual(['awaiting_approval', before]);
    await harness().clock.advance(dayMs);
    await harness().inquire(token);
    expect(await phaseOf(token)).toBe('failed');
  });

  it('with other terms under the same key is refused, also when it is approved', async () => {
    await harness().approved('order-1', 900);
    const token = await waiting();
    expect((await ask('payout-1', 501)).statusCode).toBe(422);
    await decide(token, 'approve');
    expect((await ask('payout-1', 501)).statusCode).toBe(422);
    expect(sent()).toEqual([]);
  });

  it('that nobody may take is refused before it waits', async () => {
    expect(errorsOf(await ask())).toEqual([409, 'processing_error payout_exceeds_position amount']);
    const sent404 = await ask('payout-1', 500, { ...asker, environment: 'production' });
    expect(errorsOf(sent404)).toEqual([409, 'processing_error no_account currency']);
  });
});

// Approved and repeated, it went out through an account that had been drained since: nothing had been taken by it yet.
describe('an account that operators close', () => {
  const close = (state: 'draining' | 'paused' | 'active') =>
    harness().inside.accounts.setState('sandbox', 'main', state);
  const codeOf = (answer: { json(): unknown }) =>
    (answer.json() as { errors?: { code: string }[] }).errors?.[0]?.code;

  it.each([
    ['draining', 'account_draining'],
    ['paused', 'account_paused'],
  ] as const)('and that is %s then sends no payout that is approved later', async (state, code) => {
    await harness().approved('order-1', 800);
    const token = await waiting();
    close(state);
    await decide(token, 'approve');
    expect([codeOf(await ask()), sent()]).toEqual([code, []]);
    close('active');
    expect([(await ask()).statusCode, sent().length]).toEqual([200, 1]);
  });

  it('is asked for nothing, and nothing is reserved, where there is no other one', async () => {
    await harness().approved('order-1', 800);
    close('draining');
    expect(codeOf(await ask())).toBe('account_draining');
    expect(await balance()).toEqual({ available: 800n, hold: 0n });
  });
});
