/** readme.spec.ts compares the machine with the diagram of the README. These cases prove what a diagram cannot show. */
import { paymentStatuses } from '../money.ts';
import { expect, test } from 'vitest';
import { paymentEventSchemas, type PaymentEventType } from './payment-events.ts';
import {
  isFinalPhase,
  paymentMachine,
  paymentPhases,
  paymentWalk,
  phaseOf,
  statusOfPhase,
  type PaymentMachineEvent,
  type PaymentMachineState,
} from './payment-machine.ts';

type Lifecycle = PaymentMachineState['lifecycle'];

const revisions = (['approved', 'declined', 'expired', 'refunded'] as const).map(
  (to) => ({ type: 'FinalStatusRevised', to }) as const,
);

/** Every event that the machine sees, with each fact that decides the next state. */
const events = (Object.keys(paymentEventSchemas) as PaymentEventType[]).flatMap(
  (type): PaymentMachineEvent[] => {
    switch (type) {
      case 'PaymentRequested':
      case 'PaymentAdopted':
        return [];
      case 'FinalStatusRevised':
        return [...revisions];
      case 'RefundApproved':
      case 'ExternalRefundObserved':
        return [false, true].map((inFull) => ({ type, inFull }));
      default:
        return [{ type }];
    }
  },
);

const statesOf = (region: 'lifecycle' | 'refund') =>
  Object.values(paymentMachine.root.states[region]?.states ?? {}).flatMap(({ key, states }) => {
    const inner = Object.keys(states);
    return inner.length === 0 ? [key] : inner.map((each) => `${key}.${each}`);
  });
const states = statesOf('lifecycle').flatMap((lifecycle) =>
  statesOf('refund').map((refund) => ({ lifecycle, refund }) as PaymentMachineState),
);
const transitions = states.flatMap((state) =>
  events.flatMap((event) => {
    const next = paymentWalk.next(state, event);
    return next === undefined ? [] : [{ event, from: phaseOf(state), to: phaseOf(next) }];
  }),
);

const everywhere = statesOf('lifecycle') as Lifecycle[];
const final: Lifecycle[] = ['approved', 'declined', 'voided', 'refunded', 'expired'];
const alwaysAllowed = [
  ...(['ReviewOpened', 'ReviewResolutionProposed', 'ReviewResolved', 'RecurringTokenIssued'] as const),
  ...(['CallbackDeferred', 'CallbackInquired', 'AdoptionDeclaredPayable'] as const),
  ...(['DisputeOpened', 'DisputeChanged', 'DisputeWon', 'DisputeLost'] as const),
];

type Row = [event: PaymentMachineEvent, allowedIn: readonly Lifecycle[], to: Lifecycle | 'no other'];

test.each<Row>([
  ...alwaysAllowed.map((type): Row => [{ type }, everywhere, 'no other']),
  [{ type: 'AttemptNotFound' }, ['creating.unresolved'], 'no other'],
  [{ type: 'ExternalRefundObserved', inFull: false }, final, 'no other'],
  ...revisions.map((revision): Row => [revision, [...final, 'failed'], revision.to]),
])('%j is allowed in %j, and leads to %s state', (event, allowed, to) => {
  for (const state of states) {
    const lifecycle = to === 'no other' ? state.lifecycle : to;
    const next = allowed.includes(state.lifecycle) ? { ...state, lifecycle } : undefined;
    expect(paymentWalk.next(state, event)).toEqual(next);
  }
});

test('a refund begins only while the payment is approved and no other refund is in progress', () => {
  for (const state of states) {
    const mayBegin = state.lifecycle === 'approved' && state.refund === 'idle';
    const next = mayBegin ? { ...state, refund: 'announced' } : undefined;
    expect(paymentWalk.next(state, { type: 'RefundSubmitted' })).toEqual(next);
  }
});

test('every state can be reached from a request', () => {
  const reached = new Map<string, PaymentMachineState>();
  const reach = (state: PaymentMachineState) => reached.set(JSON.stringify(state), state);
  reach({ lifecycle: 'creating.announced', refund: 'idle' });
  // A map that grows during iteration is iterated to its end.
  for (const state of reached.values())
    for (const event of events) reach(paymentWalk.next(state, event) ?? state);
  expect(new Set([...reached.values()].map((state) => state.lifecycle))).toEqual(new Set(everywhere));
  expect(new Set([...reached.values()].map(phaseOf))).toEqual(new Set(paymentPhases));
  expect(new Set([...reached.values()].map((state) => state.refund))).toEqual(new Set(statesOf('refund')));
});

test('no event leads from a final phase to one that is not', () => {
  expect(transitions.filter(({ from, to }) => isFinalPhase(from) && !isFinalPhase(to))).toEqual([]);
});

test('only a revision or a refund changes a final status', () => {
  const changes = transitions.filter(
    ({ from, to }) => isFinalPhase(from) && statusOfPhase(to) !== statusOfPhase(from),
  );
  expect([...new Set(changes.map(({ event }) => event.type))].sort()).toEqual([
    'ExternalRefundObserved',
    'FinalStatusRevised',
    'RefundApproved',
  ]);
});

test('only the end of an attempt, or another attempt, returns a payment to requested', () => {
  const ways = transitions.filter(({ from, to }) => to === 'requested' && from !== 'requested');
  expect([...new Set(ways.map(({ from, event }) => `${from} ${event.type}`))]).toEqual([
    'unresolved AttemptRefused',
    'unresolved AttemptNotSent',
    'unresolved AttemptStarted',
  ]);
});

test.each([
  ['requested', 'init', false],
  ['unresolved', 'init', false],
  ['init', 'init', false],
  ['pending', 'pending', false],
  ['authorized', 'pending', false],
  ['capturing', 'pending', false],
  ['voiding', 'pending', false],
  ['approved', 'approved', true],
  ['declined', 'declined', true],
  ['voided', 'declined', true],
  ['refunded', 'refunded', true],
  ['expired', 'expired', true],
  ['failed', 'declined', true],
] as const)('phase %s shows status %s, final: %s', (phase, status, isFinal) => {
  expect(statusOfPhase(phase)).toBe(status);
  expect(isFinalPhase(phase)).toBe(isFinal);
});

test('the phases cover all six statuses of the specification', () => {
  expect(new Set(paymentPhases.map(statusOfPhase))).toEqual(new Set(paymentStatuses));
});
