/**
 * Every operation that moves money, under every fault of an answer: the immediate answer to the caller, the final state
 * without further requests, and the exact number of executions at the provider.
 */
import { dayMs } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { payOnHostedPage } from '@tollgate/payment-service/customer';
import { issueKey } from './commands.ts';
import { type Call, reviewsOf, historyOf, ledgerOf, read, typesOf as typesIn } from './ledger.ts';
import { type Answer, type CallGateway, type System, startSystem, stopEverything } from './system.ts';

/** The defaults, shortened, but still longer than a busy machine lets the process wait for its turn. */
const times = {
  PROVIDER_CALL_DEADLINE_MS: '3000',
  PROVIDER_SEND_WITHIN_MS: '2000',
  PROVIDER_QUIET_MS: '500',
  // The subject is lost answers, not an open circuit.
  PROVIDER_FAILURES_IN_A_ROW: '1000',
};
/** Longer than the deadline of a call. */
const slowReplyMs = 4_500;
/** From the first answer to the end: two scheduled inquiries, the second after 15 s, and slow machines. */
const settled = { timeoutMs: 40_000 };
const card = { pan: '4392963203551251', expires: '12/2039', holder: 'Ada Lovelace', cvv: '123' };

/** After these the provider has executed the call. */
const withEffect = ['error_after', 'lost_reply', 'html_502', 'truncated_json', 'slow_reply'] as const;
/** After these it has not, and only the first of them reports it. */
const notExecuted = 'rate_limited';
const withoutEffect = 'error_before';
const faults = [...withEffect, notExecuted, withoutEffect] as const;
type Fault = (typeof faults)[number];

const operations = ['hosted', 'card', 'recurring', 'confirm', 'decline', 'refund', 'payout'] as const;
type Operation = (typeof operations)[number];

interface Cell {
  /** The HTTP status of the first answer. */
  first: number;
  /** The phase in which the payment, refund or payout stays. */
  end: string;
  /** The review that is open in the end. */
  reviews?: string;
  /** Announcements: exactly one per call. */
  calls: number;
  /** Calls that had an effect, in the ledger. */
  effects: 0 | 1 | 2;
}

/** Found by inquiry, regardless of the answer. */
const found = (first: number, end: string): Cell => ({ first, end, calls: 1, effects: 1 });
/** Provably without effect once the quiet period is over, and submitted again. */
const askedAgain = (end: string): Cell => ({ first: 202, end, calls: 2, effects: 1 });
/** No customer received the first page: a second is made at once, and the first may exist, unpaid. */
const secondPage = (effects: 1 | 2): Cell => ({ first: 200, end: 'approved', calls: 2, effects });
/** It cannot be distinguished from a call that may still have an effect: a person must decide. */
const underReview = (end: string, reviews: string): Cell => ({
  first: 202,
  end,
  reviews,
  calls: 1,
  effects: 0,
});

/** Not executed, and therefore repeated at once. */
const attemptedAgain: Cell = { first: 200, end: 'approved', calls: 2, effects: 1 };
/** Not executed; the team may repeat it. */
const notDone = (first: number, end: string): Cell => ({ first, end, calls: 1, effects: 0 });

interface Row {
  effect: Cell;
  noEffect: Cell;
  notExecuted: Cell;
}
const charged: Row = {
  effect: found(202, 'approved'),
  noEffect: underReview('unresolved', 'attempt_not_found'),
  notExecuted: attemptedAgain,
};
const table: Record<Operation, Row> = {
  // The customer pays at the end on the latest page.
  hosted: {
    effect: secondPage(2),
    noEffect: secondPage(1),
    notExecuted: attemptedAgain,
  },
  card: charged,
  recurring: charged,
  confirm: {
    effect: found(200, 'approved'),
    noEffect: askedAgain('approved'),
    notExecuted: notDone(503, 'authorized'),
  },
  decline: {
    effect: found(200, 'voided'),
    noEffect: askedAgain('voided'),
    notExecuted: notDone(503, 'authorized'),
  },
  refund: {
    effect: found(200, 'approved'),
    noEffect: underReview('unresolved', 'refund_unresolved'),
    notExecuted: notDone(502, 'declined'),
  },
  payout: {
    effect: found(202, 'approved'),
    noEffect: underReview('unresolved', 'payout_not_found'),
    notExecuted: notDone(502, 'failed'),
  },
};
function cellOf(operation: Operation, fault: Fault): Cell {
  const { effect, noEffect, notExecuted: refused } = table[operation];
  if (fault === notExecuted) return refused;
  return fault === withoutEffect ? noEffect : effect;
}

/** For each operation: the announcing event, the ledger's name of the call, and its effect there. */
const traces: Record<Operation, { announcements: string[]; call: string; effect: string }> = {
  hosted: { announcements: ['PaymentRequested', 'AttemptStarted'], call: 'create', effect: 'created' },
  card: { announcements: ['PaymentRequested', 'AttemptStarted'], call: 'create', effect: 'created' },
  recurring: { announcements: ['PaymentRequested', 'AttemptStarted'], call: 'create', effect: 'created' },
  confirm: { announcements: ['CaptureSubmitted'], call: 'confirm', effect: 'confirmed' },
  decline: { announcements: ['VoidSubmitted'], call: 'decline', effect: 'declined' },
  refund: { announcements: ['RefundSubmitted'], call: 'refund', effect: 'created' },
  payout: { announcements: ['PayoutRequested'], call: 'payout', effect: 'created' },
};

let system: System;
/** With a key that may send cards. */
let gateway: CallGateway;
let orders = 0;
const answers = new Map<string, Answer>();

beforeAll(async () => {
  system = await startSystem({ env: times });
  gateway = system.gatewayAs(
    await issueKey(system, 'demo', 'payments,refunds,payouts,read,cards,stored-cards,admin'),
  );
  await eventually(
    async () => expect((await gateway('GET', '/api/v1/payments')).statusCode).toBe(200),
    settled,
  );
  await runTable(await prepare());
}, 120_000);
// Faults left by one test must not affect the next.
afterEach(() => clearFaults());
afterAll(stopEverything);

const terms = (more: object = {}) => {
  orders += 1;
  return { product: 'Tea', amount: 1_000, currency: 'EUR', orderNumber: `order-${orders}`, ...more };
};
const post = (path: string, body: object, key?: string) =>
  gateway('POST', path, { body, ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }) });
const setFaults = async (...all: object[]) =>
  expect((await system.sandbox('POST', '/sandbox/faults', all)).statusCode).toBe(200);
const clearFaults = () => system.sandbox('DELETE', '/sandbox/faults');
const show = (token: string) => read(gateway, 'payment', token);
const typesOf = async (token: string) => typesIn(await historyOf(gateway, 'payment', token));
const countOf = (all: readonly string[], types: readonly string[]) =>
  all.filter((type) => types.includes(type)).length;

/** The read model lags slightly behind the history. */
const untilShown = (token: string, expected: object) =>
  eventually(async () => expect(await show(token)).toMatchObject(expected), settled);
const untilPhase = (token: string, phase: string) => untilShown(token, { phase });

/** Created, and paid with a card that is approved. */
async function paidPayment(more: object, phase: string): Promise<string> {
  const { body } = await post('/api/v1/payments', terms({ ...more, card }));
  await untilPhase(body.token, phase);
  return body.token;
}

/** The payments used by the operations of one fault. */
type Prepared = Record<'confirm' | 'decline' | 'refund' | 'recurring', string>;

async function prepare(): Promise<Record<Fault, Prepared>> {
  const funds = await paidPayment({ amount: 1_000_000, recurring: true }, 'approved');
  const recurring = (await show(funds)).recurringToken ?? '';
  await system.sandbox('POST', '/sandbox/clock', { advanceMs: 2 * dayMs });
  const prepareOne = async (fault: Fault) => {
    const [confirm, decline, refund] = await Promise.all([
      paidPayment({ needConfirmation: true }, 'authorized'),
      paidPayment({ needConfirmation: true }, 'authorized'),
      paidPayment({}, 'approved'),
    ]);
    return [fault, { confirm, decline, refund, recurring }] as const;
  };
  return Object.fromEntries(await Promise.all(faults.map(prepareOne))) as Record<Fault, Prepared>;
}

const asked: Record<Operation, (prepared: Prepared, fault: Fault) => Promise<Answer>> = {
  hosted: () => post('/api/v1/payments', terms()),
  card: () => post('/api/v1/payments', terms({ card })),
  recurring: ({ recurring }) => post('/api/v1/payments', terms({ recurringToken: recurring })),
  confirm: ({ confirm }) => post('/api/v1/payments/confirm', { token: confirm }),
  decline: ({ decline }) => post('/api/v1/payments/decline', { token: decline }),
  refund: ({ refund }, fault) => post('/api/v1/refunds', { token: refund, amount: 300 }, `refund-${fault}`),
  payout: () => {
    const destination = { bankAccount: { bankName: 'A bank', account: 'DE02120300000000202051' } };
    const { product: _, ...wanted } = terms({ amount: 7, destination });
    return post('/api/v1/payouts', wanted);
  },
};

/**
 * All operations of a fault run concurrently, then those of the next fault. A fault is consumed by the first answers. A
 * call that was not executed is repeated at once and must not consume another operation's fault, so these run in
 * sequence. The fault without an effect comes last, because its call is repeated seconds later.
 */
async function runTable(prepared: Record<Fault, Prepared>): Promise<void> {
  for (const fault of faults) {
    const delay = fault === 'slow_reply' ? { delayMs: slowReplyMs } : {};
    const ask = async (operation: Operation) =>
      answers.set(`${operation} ${fault}`, await asked[operation](prepared[fault], fault));
    for (const round of fault === notExecuted ? operations.map((each) => [each]) : [operations]) {
      const struck = Map.groupBy(round, (operation) => traces[operation].call);
      await setFaults(
        ...[...struck].map(([operation, { length }]) => ({ operation, times: length, fault, ...delay })),
      );
      await Promise.all(round.map(ask));
    }
  }
}

/** The state of an operation, and its history. */
async function endOf(operation: Operation, { body }: Answer) {
  if (operation === 'payout') {
    const { phase } = await read(gateway, 'payout', body.token);
    const history = typesIn(await historyOf(gateway, 'payout', body.token));
    return { token: body.token, phase, history };
  }
  const token = operation === 'refund' ? await paymentOf(body.token) : body.token;
  const shown = await show(token);
  const refund = shown.refunds.find((each) => each.token === body.token);
  return { token, phase: refund?.phase ?? shown.phase, history: await typesOf(token) };
}

async function paymentOf(refund: string): Promise<string> {
  const { body } = await gateway('GET', `/api/v1/refunds/${refund}`);
  return (body as object as { refund: { paymentToken: string } }).refund.paymentToken;
}

async function payWhereThereIsAPage(token: string): Promise<void> {
  const { processingUrl } = await eventually(async () => {
    const shown = await show(token);
    expect(shown.processingUrl).toBeDefined();
    return shown;
  }, settled);
  await payOnHostedPage(system.customer, { processingUrl: processingUrl ?? '', card: card.pan });
}

/** Of a payment whose amount was authorized, at the service. */
const statusAfter: Partial<Record<string, string>> = {
  approved: 'approved',
  voided: 'declined',
  authorized: 'pending',
};

const isOf = (operation: Operation) => (call: Call) => call.operation === traces[operation].call;

describe.each(faults)('%s', (fault) => {
  it.each(operations)('on %s', { timeout: 60_000 }, async (operation) => {
    const cell = cellOf(operation, fault);
    const answer = answers.get(`${operation} ${fault}`);
    if (answer === undefined) throw new Error('nothing was asked');
    expect(answer.statusCode).toBe(cell.first);
    expect(answer.body.success).toBe(cell.first < 300);
    if (operation === 'hosted') await payWhereThereIsAPage(answer.body.token);
    const { token, history } = await eventually(async () => {
      const end = await endOf(operation, answer);
      expect(end.phase).toBe(cell.end);
      expect(await reviewsOf(gateway, end.token)).toEqual(cell.reviews === undefined ? [] : [cell.reviews]);
      return end;
    }, settled);

    const { announcements, effect } = traces[operation];
    expect(countOf(history, announcements)).toBe(cell.calls);
    const ledger = await ledgerOf(system.sandbox, `${token}.`);
    const calls = ledger.calls.filter(isOf(operation));
    expect(calls.filter((call) => call.effect === effect)).toHaveLength(cell.effects);
    const isMade = operation === 'payout' ? ledger.payouts : ledger.payments;
    if (operation === 'refund') expect(ledger.refunds).toHaveLength(cell.effects);
    else if (operation === 'confirm' || operation === 'decline')
      expect(ledger.payments).toMatchObject([{ status: statusAfter[cell.end] }]);
    else expect(isMade).toHaveLength(cell.effects);
  });
});

it('the faults have occurred, each call was announced, and no call was made twice', async () => {
  const { calls } = await ledgerOf(system.sandbox);
  for (const operation of ['create', 'confirm', 'decline', 'refund', 'payout']) {
    const made = calls.filter((call) => call.operation === operation);
    const isCreation = operation === 'create';
    const struck = (answer: string) => made.filter((call) => call.answer === answer).length;
    const answered = ['error_after', 'lost_reply', 'html_502', 'truncated_json'];
    for (const answer of [...answered, '429 rate_limited', '500 core_api_error'])
      expect(struck(answer), `${operation} ${answer}`).toBe(isCreation ? 3 : 1);
    // One for each fault and operation, plus the repeated calls. Creations also prepare.
    const own = operations.filter((each) => traces[each].call === operation);
    const called = own.flatMap((each) => faults.map((fault) => cellOf(each, fault).calls));
    const prepared = isCreation ? 1 + 3 * faults.length : 0;
    expect(made.length, operation).toBe(prepared + called.reduce((sum, calls) => sum + calls));
    const numbers = made.map(({ orderNumber }) => orderNumber);
    if (isCreation || operation === 'payout') expect(new Set(numbers).size, operation).toBe(numbers.length);
  }
  const { body } = await gateway('GET', '/api/v1/reviews?perPage=500');
  const undecidable = operations.filter((operation) => table[operation].noEffect.reviews !== undefined);
  expect(body).toMatchObject({ reviews: { length: undecidable.length } });
});

describe('callbacks', { timeout: 60_000 }, () => {
  it('that are all lost do not prevent a capture', async () => {
    await setFaults({ operation: 'callback', fault: 'drop' });
    const { token, processingUrl } = (await post('/api/v1/payments', terms({ needConfirmation: true }))).body;
    await payOnHostedPage(system.customer, { processingUrl, card: card.pan });
    await untilPhase(token, 'init');
    const confirmed = await post('/api/v1/payments/confirm', { token });
    await clearFaults();
    expect(confirmed.statusCode).toBe(200);
    expect(confirmed.body.payment).toMatchObject({ status: 'approved' });
    expect(await typesOf(token)).toContain('PaymentAuthorized');
  });
});

// The last test: it moves the sandbox's clock beyond every other payment's lifetime.
it('a lapsed authorization is not captured, and the caller is refused', { timeout: 60_000 }, async () => {
  const hold = { needConfirmation: true };
  const [unaware, underWay] = await Promise.all([
    paidPayment(hold, 'authorized'),
    paidPayment(hold, 'authorized'),
  ]);
  await setFaults({ operation: 'confirm', fault: 'error_before', times: 1 });
  expect((await post('/api/v1/payments/confirm', { token: underWay })).statusCode).toBe(202);
  // No callback reports that it has lapsed.
  await setFaults({ operation: 'callback', fault: 'drop' });
  await system.sandbox('POST', '/sandbox/clock', { advanceMs: 7 * dayMs });
  const refusal = [409, 'payment_in_final_state'];
  for (const token of [unaware, underWay]) {
    const { statusCode, body } = await post('/api/v1/payments/confirm', { token });
    expect([statusCode, body.errors[0]?.code]).toEqual(refusal);
    await untilShown(token, { status: 'expired', heldAmount: 0, approvedAmount: 0 });
    expect((await ledgerOf(system.sandbox, `${token}.`)).payments).toMatchObject([{ status: 'expired' }]);
    expect(await reviewsOf(gateway, token)).toEqual([]);
  }
  expect(await typesOf(unaware)).toContain('CaptureRefused');
  await clearFaults();
});
