/** readme.spec.ts compares the machine with the diagram of the README. These cases prove what a diagram cannot show. */
import { expect, test } from 'vitest';
import { payoutEventSchemas, type PayoutEventType } from './payout-events.ts';
import {
  isFinalPayoutPhase,
  payoutPhaseOf,
  payoutPhases,
  payoutStateOf,
  payoutWalk,
  statusOfPayoutPhase,
  type PayoutMachineEvent,
  type PayoutPhase,
} from './payout-machine.ts';

/** Every event that the machine sees, with each fact that decides the next state. */
const events = (Object.keys(payoutEventSchemas) as PayoutEventType[]).flatMap(
  (type): PayoutMachineEvent[] => {
    if (type === 'PayoutApprovalRequested') return [];
    if (type !== 'FinalStatusRevised') return [{ type }];
    return (['approved', 'declined', 'pending'] as const).map((to) => ({ type, to }));
  },
);

const phaseAfter = (phase: PayoutPhase, event: PayoutMachineEvent): PayoutPhase | undefined => {
  const next = payoutWalk.next(payoutStateOf(phase), event);
  return next && payoutPhaseOf(next);
};
const transitions = payoutPhases.flatMap((from) =>
  events.flatMap((event) => {
    const to = phaseAfter(from, event);
    return to === undefined ? [] : [{ event, from, to }];
  }),
);

const alwaysAllowed = [
  ...(['ReviewOpened', 'ReviewResolutionProposed', 'ReviewResolved'] as const),
  ...(['CallbackDeferred', 'CallbackInquired'] as const),
];

type Row = [event: PayoutMachineEvent, allowedIn: readonly PayoutPhase[], to: PayoutPhase | 'no other'];

test.each<Row>([
  ...alwaysAllowed.map((type): Row => [{ type }, payoutPhases, 'no other']),
  [{ type: 'PayoutApprovalRefused' }, ['awaiting_approval', 'approval_granted'], 'no other'],
  [{ type: 'PayoutRefused' }, ['requested', 'unresolved'], 'no other'],
  [{ type: 'PayoutNotSent' }, ['requested', 'unresolved'], 'no other'],
  [{ type: 'FinalStatusRevised', to: 'approved' }, ['declined', 'failed'], 'approved'],
  [{ type: 'FinalStatusRevised', to: 'pending' }, ['declined', 'failed'], 'pending'],
  [{ type: 'FinalStatusRevised', to: 'declined' }, ['approved'], 'declined'],
])('%j is allowed in %j, and leads to %s phase', (event, allowed, to) => {
  for (const phase of payoutPhases)
    expect(phaseAfter(phase, event)).toBe(
      allowed.includes(phase) ? (to === 'no other' ? phase : to) : undefined,
    );
});

test('a payout begins as requested or waiting for approval, and every phase can be reached from there', () => {
  const reached = new Set<PayoutPhase>(['requested', 'awaiting_approval']);
  // A set that grows during iteration is iterated to its end.
  for (const phase of reached) for (const event of events) reached.add(phaseAfter(phase, event) ?? phase);
  expect([...reached].sort()).toEqual([...payoutPhases].sort());
});

test('no event leads back to requested: a payout is never called for twice', () => {
  const leadingTo = (phase: PayoutPhase) =>
    new Set(transitions.filter(({ to }) => to === phase).map(({ from }) => from));
  expect(leadingTo('requested')).toEqual(new Set(['requested', 'approval_granted']));
  expect(leadingTo('awaiting_approval')).toEqual(new Set(['awaiting_approval']));
});

test('only a revision changes a final status', () => {
  const changes = transitions.filter(
    ({ from, to }) => isFinalPayoutPhase(from) && statusOfPayoutPhase(to) !== statusOfPayoutPhase(from),
  );
  expect([...new Set(changes.map(({ event }) => event.type))]).toEqual(['FinalStatusRevised']);
});

test.each([
  ['awaiting_approval', 'pending', false],
  ['approval_granted', 'pending', false],
  ['requested', 'pending', false],
  ['unresolved', 'pending', false],
  ['pending', 'pending', false],
  ['approved', 'approved', true],
  ['declined', 'declined', true],
  ['failed', 'declined', true],
] as const)('phase %s shows the status %s, final: %s', (phase, status, isFinal) => {
  expect(statusOfPayoutPhase(phase)).toBe(status);
  expect(isFinalPayoutPhase(phase)).toBe(isFinal);
});
