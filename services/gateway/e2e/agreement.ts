/** Mixed load under lost answers, and the comparison of the provider's ledger with the gateway. */
import { expect } from 'vitest';
import { type Ledger, ledgerOf } from './ledger.ts';
import { type Load, captureOrVoidPayment, payout, refundedPayment } from './mixed-load.ts';
import type { CallGateway, ReachedSystem } from './system.ts';

/** The defaults, shortened: their order matters, not their length. */
export const shortTimes = {
  PROVIDER_CALL_DEADLINE_MS: '1000',
  // Connecting may take more than a second on a busy machine.
  PROVIDER_SEND_WITHIN_MS: '3000',
  // The Payment Service executes no call later than this: on a busy machine half a second is too short.
  PROVIDER_QUIET_MS: '3000',
  // The subject is lost answers, not an open circuit.
  PROVIDER_FAILURES_IN_A_ROW: '1000',
};

export const lossy = ['create', 'refund', 'confirm', 'decline', 'payout'];
/** Each executes the call, and gives no usable answer. */
export const lossFaults = ['lost_reply', 'error_after', 'html_502', 'truncated_json'];

/** About every second call loses its answer, in turn by each fault. */
export const loseReplies = (system: ReachedSystem) =>
  system.sandbox(
    'POST',
    '/sandbox/faults',
    lossy.flatMap((operation) => lossFaults.map((fault) => ({ operation, fault, every: 6 }))),
  );

/** `prefix` distinguishes the order numbers of the rounds. */
export const flowsOf = (
  load: Load,
  count: { refunded: number; captureOrVoid: number; payouts: number },
  prefix = '',
) => {
  const times = (length: number, flow: (index: number) => () => Promise<void>) =>
    Array.from({ length }, (_, index) => flow(index));
  const all = [
    ...times(count.refunded, (index) => () => refundedPayment(load, `${prefix}refunded-${index}`)),
    ...times(
      count.captureOrVoid,
      (index) => () =>
        captureOrVoidPayment(load, `${prefix}two-step-${index}`, index % 3 === 0 ? 'decline' : 'confirm'),
    ),
    ...times(count.payouts, (index) => () => payout(load, `${prefix}payout-${index}`)),
  ];
  // All kinds concurrently: every third of each, then the next.
  return all
    .map((flow, index) => ({ flow, at: index % 17 }))
    .sort((a, b) => a.at - b.at)
    .map(({ flow }) => flow);
};

/** The calls of the ledger that lost their answer by this fault. */
export async function countLost(system: ReachedSystem, operation: string, fault: string): Promise<number> {
  const { calls } = await ledgerOf(system.sandbox);
  return calls.filter((call) => call.operation === operation && call.answer === fault).length;
}

export async function reviewsOf(system: ReachedSystem) {
  const { statusCode, body } = await system.gateway('GET', '/api/v1/reviews?perPage=500');
  expect(statusCode).toBe(200);
  return body.reviews;
}

async function historyOf(
  system: ReachedSystem,
  { token, kind }: { token: string; kind: string },
): Promise<{ types: string[]; timeline: string }> {
  const { events } = (await system.gateway('GET', `/api/v1/${kind}s/${token}/events`)).body;
  const timeline = events.map(({ type, at }) => `${at.slice(11, 23)} ${type}`).join(', ');
  return { types: events.map(({ type }) => type), timeline };
}

const countOf = (all: readonly string[], type: string): number => all.filter((each) => each === type).length;

const unpaid: readonly string[] = ['init', 'expired', 'declined'];

/**
 * The payment that took money in the ledger, at most one. Otherwise the latest page: lost answers leave earlier pages
 * unused.
 */
function onlyOne(ledger: Ledger, token: string): Ledger['payments'][number] | undefined {
  const found = ledger.payments.filter(({ orderNumber }) => orderNumber.startsWith(`${token}.`));
  const paid = found.filter(({ status }) => !unpaid.includes(status));
  expect(paid.length, token).toBeLessThanOrEqual(1);
  return paid[0] ?? found.at(-1);
}

async function expectPaymentAgrees(system: ReachedSystem, ledger: Ledger, token: string): Promise<string[]> {
  const answer = await system.gateway('GET', `/api/v1/payments/${token}`);
  expect(answer, token).toMatchObject({ statusCode: 200 });
  const { payment } = answer.body;
  const there = onlyOne(ledger, token);
  if (there === undefined) throw new Error(`${token} is not in the ledger`);
  const history = await historyOf(system, { token, kind: 'payment' });
  const { status, refundedAmount } = there;
  expect(payment, `${token}: ${history.timeline}`).toMatchObject({ status, refundedAmount });
  const refunds = ledger.refunds.filter(({ paymentToken }) => paymentToken === there.token);
  const approved = payment.refunds.filter(({ phase }) => phase === 'approved');
  expect(approved.map(({ amount }) => amount).sort()).toEqual(refunds.map(({ amount }) => amount).sort());
  const calls = ledger.calls.filter((call) => call.token === there.token);
  // No call without an announcement.
  for (const [operation, announcement] of [
    ['refund', 'RefundSubmitted'],
    ['confirm', 'CaptureSubmitted'],
    ['decline', 'VoidSubmitted'],
  ] as const) {
    const made = calls.filter((call) => call.operation === operation).length;
    expect(made, `${token} ${operation}`).toBeLessThanOrEqual(countOf(history.types, announcement));
  }
  // A call that was announced and never reached the provider cannot be distinguished from one that reached it and failed.
  return payment.refunds.filter(({ phase }) => phase !== 'approved' && phase !== 'declined').map(() => token);
}

/**
 * @returns the payments and payouts that need a review: a payout that was announced and is absent, unless it was
 * provably not sent
 */
async function expectPayoutAgrees(system: ReachedSystem, ledger: Ledger, token: string): Promise<string[]> {
  const { payout: shown } = (await system.gateway('GET', `/api/v1/payouts/${token}`)).body;
  const made = ledger.payouts.filter(({ orderNumber }) => orderNumber.startsWith(`${token}.`));
  expect(made.length, token).toBeLessThanOrEqual(1);
  if (made[0] !== undefined) {
    expect(shown.status, token).toBe(made[0].status);
    return [];
  }
  const history = await historyOf(system, { token, kind: 'payout' });
  return history.types.includes('PayoutNotSent') ? [] : [token];
}

/** A refund after an unanswered inquiry, as on a busy machine, is decided by a person, who checks the ledger here. */
async function decideWhereSumsAreUnknown(
  system: ReachedSystem,
  ledger: Ledger,
  operator: CallGateway,
): Promise<void> {
  for (const { token, code, number, evidence } of await reviewsOf(system)) {
    if (code !== 'refund_unresolved' || evidence.sumUnknown !== 'true') continue;
    const { refunds } = (await system.gateway('GET', `/api/v1/payments/${token}`)).body.payment;
    const there = onlyOne(ledger, token)?.token;
    const isMade =
      ledger.refunds.filter(({ paymentToken }) => paymentToken === there).length >
      refunds.filter(({ phase }) => phase === 'approved').length;
    const resolution = isMade ? 'refund_made' : 'refund_not_made';
    const reason = 'looked it up in the ledger';
    await operator('POST', `/api/v1/reviews/${token}/resolve`, {
      headers: { 'tollgate-team': 'demo', 'tollgate-environment': 'sandbox' },
      body: { code, number, resolution, reason },
    });
  }
}

/** @param operator calls as a person: a key cannot resolve a refund as not made */
export async function expectAgreement(
  system: ReachedSystem,
  load: Load,
  operator: CallGateway = system.gateway,
): Promise<void> {
  await system.sandbox('DELETE', '/sandbox/faults');
  const ledger = await ledgerOf(system.sandbox);
  await decideWhereSumsAreUnknown(system, ledger, operator);
  const undecidable: string[] = [];
  for (const { token, kind } of load.outcomes) {
    if (kind === 'payment') undecidable.push(...(await expectPaymentAgrees(system, ledger, token)));
    else undecidable.push(...(await expectPayoutAgrees(system, ledger, token)));
  }
  const reviews = await reviewsOf(system);
  const waiting = reviews.map(({ token }) => token);
  expect(waiting.sort(), JSON.stringify(reviews)).toEqual(undecidable.sort());
  const announced = ledger.calls.flatMap(({ operation, orderNumber }) =>
    operation === 'create' || operation === 'payout' ? [`${operation} ${orderNumber ?? ''}`] : [],
  );
  expect(new Set(announced).size, 'each creation and payout was sent once').toBe(announced.length);
}
