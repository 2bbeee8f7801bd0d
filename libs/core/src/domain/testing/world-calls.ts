/** The fate of an announced call in the property tests: sent or not, answered, lost, or late. */
import type { CallOutcome, CallRefused } from '../outbound-call/outbound-call.ts';
import type { AnnouncedCall } from '../payment/announced-call.ts';
import type {
  AuthorizationOutcome,
  RefundOutcome,
  CaptureOrVoidOutcome,
} from '../payment/payment-commands.ts';
import { nextAttempt, ownPayment, picked, type World } from './world.ts';
import { terms } from './samples.ts';
import {
  createAtService,
  captureOrVoidAtService,
  snapshotOf,
  refundAtService,
  type ServicePayment,
  type ServiceRefund,
} from './service-model.ts';

type Call<Operation extends AnnouncedCall['operation']> = Extract<AnnouncedCall, { operation: Operation }>;
type CaptureOrVoidCall = Extract<AnnouncedCall, { submission: number }>;
type Failure = Exclude<CallOutcome<object>, { kind: 'accepted' }>;

const refusedFor = (kind: string): CallRefused => ({ kind: 'refused', errors: [{ code: 'a_code', kind }] });
const accountRefused = { ...refusedFor('authentication_error'), isAccountRefused: true } as const;
const lost = (reason: string): Failure => ({ kind: 'unknown', reason });
const tooLate: Failure = { kind: 'not-sent', reason: 'too late' };
const noConnection: Failure = { kind: 'not-sent', reason: 'connection refused' };

/** The unique id of an announced call. */
function nameOf(call: AnnouncedCall): string {
  if (call.operation === 'authorize') return `attempt ${call.attemptNumber}`;
  return call.operation === 'refund' ? `refund ${call.refundToken}` : `submission ${call.submission}`;
}

/** Sends the latest announced call, unless it is stale. */
export function send(world: World, pick: number): void {
  const call = world.unsent.pop();
  if (call === undefined) return;
  const isInTime = world.now < call.window.sendBy;
  if (isInTime) world.sent.push(nameOf(call));
  switch (call.operation) {
    case 'authorize':
      return sendAuthorization(world, call, isInTime, pick);
    case 'capture':
    case 'void':
      return sendCaptureOrVoid(world, call, isInTime, pick);
    case 'refund':
      return sendRefund(world, call, isInTime, pick);
  }
}

function sendAuthorization(world: World, call: Call<'authorize'>, isInTime: boolean, pick: number): void {
  const answer = (outcome: AuthorizationOutcome) => answerAuthorization(world, call, outcome);
  if (!isInTime) return answer(tooLate);
  const status =
    world.kind === 'hosted' ? 'init' : ((['approved', 'declined', 'pending'] as const)[pick % 3] ?? 'init');
  const create = () =>
    createAtService(world.ledger, call.providerOrderNumber, status, world.kind !== 'hosted');
  const accept = () => answer(acceptedAs(create()));
  const ways = [
    accept,
    accept,
    accept,
    () => answer(refusedFor('processing_error')),
    () => answer(accountRefused),
    () => answer(noConnection),
    () => answer(lost('lost before the effect')),
    () => {
      create();
      answer(lost('lost after the effect'));
    },
    () => {
      world.slow.push(call);
      answer(lost('timeout'));
    },
  ];
  picked(ways, pick)?.();
}

function answerAuthorization(
  world: World,
  { attemptNumber }: Call<'authorize'>,
  outcome: AuthorizationOutcome,
): void {
  const next = nextAttempt(world);
  world.answers.push({ type: 'RecordAuthorizationOutcome', attemptNumber, outcome, ...next });
}

const acceptedAs = ({ serviceToken }: ServicePayment): AuthorizationOutcome => ({
  kind: 'accepted',
  serviceToken,
  processingUrl: `https://pay.example/${serviceToken}`,
});

function sendCaptureOrVoid(world: World, call: CaptureOrVoidCall, isInTime: boolean, pick: number): void {
  const answer = (outcome: CaptureOrVoidOutcome) => answerCaptureOrVoid(world, call, outcome);
  if (!isInTime) return answer(tooLate);
  const payment = ownPayment(world);
  const before = payment === undefined ? {} : { observed: snapshotOf(payment) };
  const act = (outcome: () => CaptureOrVoidOutcome) => () => {
    const isDone = payment !== undefined && captureOrVoidAtService(payment, call.operation);
    answer(isDone ? outcome() : refusedFor('invalid_request_error'));
  };
  const ways = [
    act(() => ({ kind: 'accepted', ...(payment && { observed: snapshotOf(payment) }) })),
    act(() => ({ kind: 'accepted' })),
    act(() => ({ kind: 'accepted', ...before })),
    act(() => lost('lost after the effect')),
    () => answer(lost('lost before the effect')),
    () => answer(refusedFor('processing_error')),
    () => answer(noConnection),
    () => {
      world.slow.push(call);
      answer(lost('timeout'));
    },
  ];
  picked(ways, pick)?.();
}

function answerCaptureOrVoid(
  world: World,
  { operation, submission }: CaptureOrVoidCall,
  outcome: CaptureOrVoidOutcome,
): void {
  world.answers.push({ type: 'RecordCaptureOrVoidOutcome', operation, submission, outcome });
}

function sendRefund(world: World, call: Call<'refund'>, isInTime: boolean, pick: number): void {
  const answer = (outcome: RefundOutcome) => answerRefund(world, call, outcome);
  if (!isInTime) return answer(tooLate);
  const act = (status: ServiceRefund['status'], toOutcome: typeof takenAs) => () => {
    const refund = refundNow(world, call, status);
    answer(refund === undefined ? refusedFor('invalid_request_error') : toOutcome(world, refund));
  };
  const ways = [
    act('approved', takenAs),
    act('pending', takenAs),
    act('declined', takenAs),
    act('approved', () => lost('lost after the effect')),
    act('pending', () => lost('lost after the effect')),
    () => answer(lost('lost before the effect')),
    () => answer(refusedFor('processing_error')),
    () => answer(noConnection),
    () => {
      world.slow.push(call);
      answer(lost('timeout'));
    },
  ];
  picked(ways, pick)?.();
}

function answerRefund(world: World, { refundToken }: Call<'refund'>, outcome: RefundOutcome): void {
  world.answers.push({ type: 'RecordRefundOutcome', refundToken, outcome });
}

function refundNow(world: World, call: Call<'refund'>, status: ServiceRefund['status']) {
  const payment = ownPayment(world);
  return payment === undefined ? undefined : refundAtService(world.ledger, payment, call, status);
}

/** The provider's answer to a refund; if false, with a wrong amount or an unknown status. */
function takenAs(world: World, { serviceRefundToken, amount, status }: ServiceRefund): RefundOutcome {
  const { mistells } = world;
  world.mistells = false;
  const isOddStatus = mistells && status === 'pending';
  return {
    kind: 'accepted',
    serviceRefundToken,
    status: isOddStatus ? 'odd' : status,
    amount: mistells && !isOddStatus ? amount + 1 : amount,
    currency: terms.currency,
  };
}

/**
 * A call that no caller waits for takes effect after all. Creations at any time: even a quiet period that was too short
 * must not lead to a second charge. Others within their quiet period, as the provider promises.
 */
export function carryOutLate(world: World, pick: number): void {
  const [call] = world.slow.splice(pick % (world.slow.length || 1), 1);
  if (call === undefined) return;
  if (call.operation === 'authorize') {
    const status = world.kind === 'hosted' ? 'init' : 'approved';
    const { providerOrderNumber } = call;
    const payment = createAtService(world.ledger, providerOrderNumber, status, world.kind !== 'hosted');
    return answerAuthorization(world, call, acceptedAs(payment));
  }
  if (world.now >= call.window.quietUntil) return;
  if (call.operation === 'refund') {
    refundNow(world, call, pick % 2 === 0 ? 'approved' : 'pending');
    return;
  }
  const payment = ownPayment(world);
  if (payment !== undefined) captureOrVoidAtService(payment, call.operation);
}
