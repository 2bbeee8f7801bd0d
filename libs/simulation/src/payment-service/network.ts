/** The network to and from the Payment Service: connections are refused, stall, or break after the request has arrived. */
import { providers } from '@tollgate/provider';
import type { Dispatcher } from 'undici';
import { isRevisable, revise, stopInHandshake } from '../faults/disasters.ts';
import type { FaultKind, Faults } from '../faults/faults.ts';
import type { World } from '../world.ts';
import { recurringTokenMark } from '../checks/secrets.ts';
import type { Life } from '../world/machine.ts';
import type { Random } from '../world/random.ts';
import type { LedgerPayment } from './ledger.ts';
import { type ServiceAnswer, type ServiceRequest, movesMoney, refusal } from './api.ts';

interface Way {
  world: World;
  life: Life;
}

type Handler = Dispatcher.DispatchHandler;

/** The service as one process reaches it through one account. */
export const createSimulatedProvider = (world: World, life: Life, account: string) =>
  providers['payment-service']({
    baseUrl: 'https://service.sim',
    privateKey: { reveal: () => 'key' },
    deadlineMs: 10_000,
    clock: life.clock,
    connections: {
      dispatch: ({ method, path, body }, handler) => {
        const parsed = typeof body === 'string' ? (JSON.parse(body) as Record<string, unknown>) : {};
        exchange({ world, life }, { account, method, path, body: parsed }, handler);
        return true;
      },
      destroy: () => Promise.resolve(),
    },
  });

/** Handshakes, requests and answers. */
function exchange(parts: Way, request: ServiceRequest, handler: Handler): void {
  const { life, world } = parts;
  const { faults, scheduler, downUntil, partitions } = world;
  const { random } = life;
  const label = `${request.method} ${request.path.split('?')[0] ?? ''}`;
  const controller = createController();
  const fail = (code: string) =>
    handler.onResponseError?.(controller, Object.assign(new Error(code), { code }));
  const handshakeMs = faults.strikes('handshake-slow', random)
    ? random.between(1_000, 20_000)
    : random.between(1, 30);
  const isPausedMeanwhile = movesMoney(request) && faults.strikes('pause-before-send', random);
  if (isPausedMeanwhile)
    life.deliver(handshakeMs / 2, 'stops in the handshake', () => stopInHandshake(world, life));

  life.deliver(handshakeMs, `connected for ${label}`, () => {
    const isDown = scheduler.now() < downUntil.service || partitions.isCut(life.machine, 'service');
    if (isDown || faults.strikes('connection-refused', random)) return fail('ECONNREFUSED');
    try {
      handler.onRequestStart?.(controller, {});
    } catch (error) {
      return handler.onResponseError?.(controller, error instanceof Error ? error : new Error('refused'));
    }
    if (movesMoney(request)) {
      const { orderNumber, token, amount } = request.body;
      const text = JSON.stringify({ orderNumber, token, amount });
      world.trace.log(`${life.name} sends ${request.path} ${text}`);
    }
    world.checks.onSent(request, life);
    const respond = (answer: ServiceAnswer | undefined): void => {
      if (controller.aborted) return;
      if (answer === undefined) return fail('ECONNRESET');
      handler.onResponseStart?.(controller, answer.statusCode, {});
      handler.onResponseData?.(controller, Buffer.from(answer.body));
      handler.onResponseEnd?.(controller, {});
    };
    void send(parts, request, label).then(respond);
  });
}

/** The request has left: it may be lost, or be executed and answered late. @returns undefined without an answer */
async function send(parts: Way, request: ServiceRequest, label: string): Promise<ServiceAnswer | undefined> {
  const { life, world } = parts;
  const { faults, scheduler, downUntil, partitions } = world;
  const { random } = life;
  const isHanging = request.account === 'other' && scheduler.now() < downUntil.account;
  const struck = strikesOf(faults, random, request);
  const isLost = struck('reply-lost');
  const overtaken = revisableIn(world, request);
  const isOvertaken = overtaken !== undefined && faults.strikes('revised-behind-answer', random);
  const isSlow = isHanging || isOvertaken || struck('reply-slow');
  const fault = faultyAnswer(struck, random);
  const slowMs = isSlow ? random.between(5_000, isOvertaken ? 10_000 : 25_000) : random.between(5, 150);
  // A slow service may execute the request long after the caller has timed out.
  const thereMs = isSlow ? random.between(1, slowMs) : random.between(1, 40);
  const backMs = isSlow ? slowMs - thereMs : slowMs;
  const given = await life.ask(label, { thereMs, backMs }, () => {
    const answer = fault.isExecuted ? carriedOut(parts, request) : undefined;
    // The service changes the status while the answer is in transit, and sends a callback.
    if (isOvertaken) scheduler.after(1, 'revised behind its answer', () => revise(world, overtaken));
    return fault.answer ?? answer ?? { statusCode: 500, body: '' };
  });
  return isLost || partitions.isCut('service', life.machine) ? undefined : given;
}

/** The payment that a retrieval asks for, whose final status may be reversed for the first time. */
function revisableIn({ ledger }: World, { method, path }: ServiceRequest): LedgerPayment | undefined {
  const payment = method === 'GET' ? ledger.findPayment(path.slice(path.lastIndexOf('/') + 1)) : undefined;
  return payment !== undefined && isRevisable(payment) && payment.revisions === 0 ? payment : undefined;
}

/** Executes a request that has reached the service, and returns the answer. */
function carriedOut(parts: Way, request: ServiceRequest): ServiceAnswer | undefined {
  const { faults, ledger, answerOf } = parts.world;
  const { random } = parts.life;
  const { account, path, method, body } = request;
  // A service without lists: revisions can only be found by inquiries.
  if (faults.blind === 'reconciliation' && !faults.isBare && path.includes('dateFrom=')) return undefined;
  if (method === 'GET') return distorted(parts, path, answerOf(request));
  if (path.endsWith('/payments') && faults.strikes('stranger-under-our-number', random)) {
    ledger.add({
      orderNumber: String(body['orderNumber']),
      currency: 'EUR',
      amount: Number(body['amount']),
      account,
      callbackUrl: 'https://elsewhere.sim/',
      ageMs: 86_400_000,
      status: 'approved',
      isStranger: true,
      recurringToken: `${recurringTokenMark}of-a-stranger`,
    });
    // The request itself is lost.
    return undefined;
  }
  const first = path.endsWith('/payouts') ? payOut(parts, request) : answerOf(request);
  return answerToSecond(parts, request, first) ?? first;
}

/** Occasionally pays out a different amount than requested. */
function payOut({ world, life }: Way, request: ServiceRequest): ServiceAnswer {
  const { faults, ledger, answerOf } = world;
  const { body } = request;
  const amount = Number(body['amount']) + life.random.pick([-1, 1]);
  if (amount < 1 || !faults.strikes('payout-of-another-amount', life.random)) return answerOf(request);
  const answer = answerOf({ ...request, body: { ...body, amount } });
  const made = ledger.payouts.find(({ orderNumber }) => orderNumber === body['orderNumber']);
  if (made !== undefined) made.wasShownWrong = true;
  return answer;
}

/** Answers to a second delivery: section 7 lists no codes. */
const refusals: readonly ServiceAnswer[] = [
  { statusCode: 429, body: 'slow down' },
  refusal('incorrect_private_key', 'authentication_error'),
  refusal('incorrect_amount', 'invalid_request_error'),
  refusal('some_code_of_theirs'),
  refusal('balance_less_than_amount'),
  refusal('refund_exceeds_amount'),
];

/** The answer to a second delivery, when the network repeats a request that has already taken effect. */
function answerToSecond(
  { world: { faults, ledger }, life: { random } }: Way,
  { path, body }: ServiceRequest,
  first: ServiceAnswer,
): ServiceAnswer | undefined {
  if (first.statusCode !== 200) return undefined;
  const refunded = path.endsWith('/refunds') ? ledger.findPayment(String(body['token'])) : undefined;
  // Refunds that are accepted but not decided are not in the service's total: see "not promised" in docs/guarantees.md.
  const isPending =
    refunded !== undefined &&
    (JSON.parse(first.body) as { refund?: { status: string } }).refund?.status === 'pending';
  if (isPending || !faults.strikes('delivered-twice', random)) return undefined;
  // A refused page may have been made anyway, with no inquiry answered: it is never given to a customer.
  const isPage =
    path.endsWith('/payments') && body['card'] === undefined && body['recurringToken'] === undefined;
  return random.pick(
    isPage ? refusals.filter(({ body: text }) => !text.includes('authentication')) : refusals,
  );
}

/** A retrieval may be wrong or stale. */
function distorted(
  { world: { faults, ledger }, life: { random } }: Way,
  path: string,
  answer: ServiceAnswer,
): ServiceAnswer {
  if (!path.includes('/payments/') || answer.statusCode !== 200) return answer;
  const shown = JSON.parse(answer.body) as { payment: { token: string; amount: number; status: string } };
  const { token } = shown.payment;
  const entry = ledger.findPayment(token) ?? ledger.payouts.find((each) => each.token === token);
  if (faults.strikes('wrong-amount-shown', random)) {
    shown.payment.amount += 1;
    if (entry !== undefined) entry.wasShownWrong = true;
  } else if (shown.payment.status === 'approved' && faults.strikes('older-status-shown', random))
    shown.payment.status = 'pending';
  else if (faults.strikes('unknown-status-shown', random)) {
    shown.payment.status = 'in_clearing';
    if (entry !== undefined) entry.wasShownUnknown = true;
  }
  return { ...answer, body: JSON.stringify(shown) };
}

/** Calls that move money are rare among the inquiries, and their faults are more valuable. */
const strikesOf =
  (faults: Faults, random: Random, request: ServiceRequest) =>
  (kind: FaultKind): boolean =>
    faults.strikes(kind, random) ||
    (movesMoney(request) && (faults.strikes(kind, random) || faults.strikes(kind, random)));

function faultyAnswer(struck: (kind: FaultKind) => boolean, random: Random) {
  const body = random.pick([refusal('core_api_error', 'api_error').body, '<html>bad gateway</html>']);
  const answer = { statusCode: 502, body };
  if (struck('rate-limited')) return { isExecuted: false, answer: { statusCode: 429, body: 'slow down' } };
  if (struck('server-error-with-effect')) return { isExecuted: true, answer };
  return struck('server-error-without-effect') ? { isExecuted: false, answer } : { isExecuted: true };
}

function createController(): Dispatcher.DispatchController {
  const controller = {
    aborted: false,
    paused: false,
    reason: null,
    abort: () => void (controller.aborted = true),
    pause: () => undefined,
    resume: () => undefined,
  };
  return controller;
}
