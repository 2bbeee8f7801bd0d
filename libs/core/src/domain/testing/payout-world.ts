/**
 * A small world around one payout for property tests: the Payment Service with its ledger, a call whose answer is lost,
 * late or repeated, inquiries and retrievals recorded in any order, people who answer, and a gateway that keeps the rule: an
 * announced call is sent once, before `sendBy`, by the process whose append won.
 */
import type { ObservedPayout, PayoutInput, PayoutOutcome } from '../payout/payout-commands.ts';
import { decidePayout, payoutResolutionsOf } from '../payout/payout-decide.ts';
import type { PayoutCall, PayoutEvent } from '../payout/payout-events.ts';
import {
  evolvePayout,
  payoutCallAnnouncedBy,
  type AnnouncedPayoutCall,
  type PayoutState,
} from '../payout/payout-state.ts';
import { payoutTerms, requestPayout } from './payout-samples.ts';

interface ServicePayout {
  serviceToken: string;
  orderNumber: string;
  /** Frozen is not a status of the specification. */
  status: 'pending' | 'approved' | 'declined' | 'frozen';
  amount: number;
  /** Made under the same number by another installation. */
  isStranger?: true;
}

/** One action in the world. `pick` chooses among the candidates. */
export interface PayoutHappening {
  kind: PayoutHappeningKind;
  pick: number;
}
export const payoutHappeningKinds = [
  'request',
  'request under a used key',
  'approval is asked for',
  'second key approves',
  'second key refuses',
  'approval lapses',
  'send',
  'effect of a slow call',
  'answer arrives',
  'crash',
  'inquiry begins',
  'inquiry is recorded',
  'snapshot is taken',
  'snapshot is recorded',
  'command is repeated',
  'time passes',
  'hours pass',
  'service decides',
  'operator revises',
  'operator opens it again',
  'operator freezes it',
  'operator corrects the amount',
  'another installation pays it out',
  'payout goes missing',
  'callback is deferred',
  'callback is inquired',
  'inquiry fails',
  'person resolves',
] as const;
type PayoutHappeningKind = (typeof payoutHappeningKinds)[number];

export interface PayoutWorld {
  now: number;
  changedAt: number;
  history: PayoutEvent[];
  state: PayoutState;
  /** Commands in execution order. */
  commands: PayoutInput[];
  /** Announced calls that this gateway may still send. */
  unsent: AnnouncedPayoutCall[];
  /** Sent calls, whatever their outcome. */
  sentCount: number;
  /** Calls in transit that will still take effect. */
  slow: AnnouncedPayoutCall[];
  answers: PayoutInput[];
  inquiries: PayoutInput[];
  /** Retrievals, with the number of events at the start of each. */
  snapshots: { observation: PayoutInput; revision: number }[];
  service: ServicePayout[];
  /** Called after each applied command, with its events. */
  onDecided: (command: PayoutInput, events: readonly PayoutEvent[], before: PayoutState) => void;
}

export const createPayoutWorld = (onDecided: PayoutWorld['onDecided'] = () => {}): PayoutWorld => ({
  now: 0,
  changedAt: 0,
  history: [],
  state: undefined,
  commands: [],
  unsent: [],
  sentCount: 0,
  slow: [],
  answers: [],
  inquiries: [],
  snapshots: [],
  service: [],
  onDecided,
});

const planCall = (now: number): PayoutCall => ({
  account: 'main',
  providerOrderNumber: 'po_1.1',
  sendBy: now + 1_000,
  answerBy: now + 10_000,
  quietUntil: now + 60_000,
});

const dayMs = 24 * 60 * 60 * 1000;
const keyOf = (pick: number): string => `key-${(pick % 3) + 1}`;

function askApproval(now: number): PayoutInput {
  const { type: _, call, requestedAt: __, ...request } = requestPayout();
  const { account, providerOrderNumber } = call;
  return {
    ...request,
    type: 'AskPayoutApproval',
    account,
    providerOrderNumber,
    askedAt: now,
  };
}

const picked = <Item>(items: readonly Item[], pick: number): Item | undefined =>
  items[pick % (items.length || 1)];

/** Executes a command like the gateway: decide, append, and remember the announced call. */
function executePayout(world: PayoutWorld, command: PayoutInput): void {
  const before = world.state;
  const decision = decidePayout(before, command);
  if (decision.kind === 'refused') return;
  world.history.push(...decision.events);
  if (decision.events.length > 0) world.changedAt = world.now;
  world.state = decision.events.reduce<PayoutState>(evolvePayout, before);
  world.commands.push(command);
  const call = world.state && payoutCallAnnouncedBy(decision.events, world.state);
  if (call !== undefined) world.unsent.push(call);
  world.onDecided(command, decision.events, before);
}

/** The provider executes a call. */
function takeEffect(world: PayoutWorld, orderNumber: string, pick: number): ServicePayout {
  const payout: ServicePayout = {
    serviceToken: `token-${world.service.length + 1}`,
    orderNumber,
    status: picked(['pending', 'approved', 'declined'], pick) ?? 'pending',
    amount: payoutTerms.amount,
  };
  world.service.push(payout);
  return payout;
}

const strangersMax = 2;
function payOutElsewhere(world: PayoutWorld, pick: number): void {
  const { state, service } = world;
  if (state === undefined || service.filter(({ isStranger }) => isStranger).length === strangersMax) return;
  takeEffect(world, state.call.providerOrderNumber, pick).isStranger = true;
}

const snapshotOf = ({ isStranger: _, ...payout }: ServicePayout): ObservedPayout => ({
  ...payout,
  currency: payoutTerms.currency,
});

const retrievalOf = ({ now, changedAt }: PayoutWorld, payout: ServicePayout): PayoutInput => ({
  type: 'RecordPayoutObservation',
  observed: snapshotOf(payout),
  inquiredAt: now,
  changedAt,
});

/** As from an inquiry, which counts while nothing else was recorded. */
function recordSnapshot(world: PayoutWorld, pick: number): void {
  world.snapshots = world.snapshots.filter(({ revision }) => revision === world.history.length);
  const snapshot = picked(world.snapshots, pick);
  if (snapshot !== undefined) executePayout(world, snapshot.observation);
}

const answer = (world: PayoutWorld, outcome: PayoutOutcome): unknown =>
  world.answers.push({ type: 'RecordPayoutOutcome', outcome });

function acceptCall(world: PayoutWorld, call: AnnouncedPayoutCall, pick: number): unknown {
  const { serviceToken, status, amount } = takeEffect(world, call.providerOrderNumber, pick);
  return answer(world, { kind: 'accepted', serviceToken, status, amount, currency: payoutTerms.currency });
}

function send(world: PayoutWorld, pick: number): unknown {
  const call = world.unsent.pop();
  if (call === undefined) return undefined;
  if (world.now >= call.window.sendBy) return answer(world, { kind: 'not-sent', reason: 'too late' });
  const ways = [
    () => acceptCall(world, call, pick),
    () => acceptCall(world, call, pick),
    () => answer(world, { kind: 'refused', errors: [{ code: 'a_code', kind: 'processing_error' }] }),
    () => answer(world, { kind: 'unknown', reason: 'lost before the effect' }),
    () => {
      takeEffect(world, call.providerOrderNumber, pick);
      return answer(world, { kind: 'unknown', reason: 'lost after the effect' });
    },
    () => {
      world.slow.push(call);
      return answer(world, { kind: 'unknown', reason: 'timeout' });
    },
    () => takeEffect(world, call.providerOrderNumber, pick),
  ];
  world.sentCount += 1;
  return picked(ways, Math.floor(pick / 3))?.();
}

// At any time: even a quiet period that was too short must not lead to a second payout.
function slowEffect(world: PayoutWorld, pick: number): unknown {
  const call = world.slow.pop();
  return call && acceptCall(world, call, pick);
}

const foundUnderNumber = ({ service, state }: PayoutWorld) =>
  service.filter(({ orderNumber }) => orderNumber === state?.call.providerOrderNumber).map(snapshotOf);
const beginPayoutInquiry = (world: PayoutWorld): PayoutInput => ({
  type: 'RecordPayoutSearch',
  found: foundUnderNumber(world),
  inquiredAt: world.now,
});

function personResolves({ state, now }: PayoutWorld, pick: number): PayoutInput | undefined {
  const open = state && picked(state.reviews, pick);
  if (open === undefined) return undefined;
  const resolution = picked(payoutResolutionsOf(state as NonNullable<PayoutState>, open), pick);
  const { code, number } = open;
  // Sometimes two people are required.
  const proposer = pick % 4 > 0 ? {} : { proposer: { name: `person-${(pick / 4) & 1}`, at: now } };
  return resolution && { type: 'ResolveReview', code, number, resolution, reason: 'a reason', ...proposer };
}

const inquireFailures = ['no_answer', 'account_missing', 'refused'] as const;
/** The token in a callback: none, or one of the provider's first payouts. */
const namedBy = (pick: number): { serviceToken?: string } =>
  pick % 3 === 0 ? {} : { serviceToken: `token-${pick % 3}` };

const lapse = (world: PayoutWorld): PayoutInput => ({ type: 'RecordApprovalLapsed', at: world.now + dayMs });

/** Performs one action; none if there is no candidate. */
export function happenToPayout(world: PayoutWorld, { kind, pick }: PayoutHappening): void {
  const payout = picked(world.service, pick);
  const recorded = (command: PayoutInput | undefined) => {
    if (command !== undefined) executePayout(world, command);
  };
  const ways: Record<PayoutHappeningKind, () => unknown> = {
    request: () => recorded(requestPayout({ call: planCall(world.now), requestedAt: world.now })),
    'request under a used key': () =>
      world.state && recorded(requestPayout({ call: planCall(world.now), fingerprint: 'another' })),
    'approval is asked for': () => recorded(askApproval(world.now)),
    'second key approves': () => recorded({ type: 'GrantPayout', keyId: keyOf(pick), at: world.now }),
    'second key refuses': () => recorded({ type: 'RefusePayout', keyId: keyOf(pick), reason: 'a reason' }),
    'approval lapses': () => recorded(lapse(world)),
    send: () => send(world, pick),
    'effect of a slow call': () => slowEffect(world, pick),
    'answer arrives': () => recorded(picked(world.answers, pick)),
    crash: () => (world.unsent = []),
    'inquiry begins': () => world.state && world.inquiries.push(beginPayoutInquiry(world)),
    'inquiry is recorded': () => recorded(picked(world.inquiries, pick)),
    'snapshot is taken': () =>
      payout &&
      world.snapshots.push({ observation: retrievalOf(world, payout), revision: world.history.length }),
    'snapshot is recorded': () => recordSnapshot(world, pick),
    'command is repeated': () => {
      const command = picked(world.commands, pick);
      // A retrieval is recorded only by the process that made it, at the revision of its start.
      if (command?.type !== 'RecordPayoutObservation') recorded(command);
    },
    'time passes': () => (world.now += [500, 500, 5_000, 20_000, 70_000][pick % 5] ?? 0),
    'hours pass': () => (world.now += (1 + (pick % 3)) * 3_600_000),
    'service decides': () => {
      if (payout?.status === 'pending') payout.status = pick % 2 === 0 ? 'approved' : 'declined';
    },
    'operator revises': () => {
      if (payout === undefined || payout.status === 'pending') return;
      payout.status = payout.status === 'approved' ? 'declined' : 'approved';
    },
    'operator opens it again': () => payout && (payout.status = 'pending'),
    'operator freezes it': () => payout && (payout.status = 'frozen'),
    'another installation pays it out': () => payOutElsewhere(world, pick),
    'operator corrects the amount': () => {
      if (payout !== undefined)
        payout.amount = payout.amount === payoutTerms.amount ? 900 : payoutTerms.amount;
    },
    'payout goes missing': () =>
      payout && recorded({ type: 'RecordMissing', serviceToken: payout.serviceToken, inquiredAt: world.now }),
    'callback is deferred': () =>
      recorded({ type: 'DeferCallback', ...namedBy(pick), deferredAt: world.now }),
    'callback is inquired': () => {
      const { serviceToken } = namedBy(pick);
      recorded(serviceToken === undefined ? undefined : { type: 'RecordCallbackInquired', serviceToken });
    },
    'inquiry fails': () =>
      recorded({
        type: 'RecordInquiryFailed',
        reason: picked(inquireFailures, pick) ?? 'no_answer',
        account: 'main',
        failedAt: world.now,
      }),
    'person resolves': () => recorded(personResolves(world, pick)),
  };
  ways[kind]();
}

/** The faults end: no caller waits, the provider decides every payout, and all are inquired. */
export function settlePayout(world: PayoutWorld): void {
  world.unsent = [];
  world.slow = [];
  world.now += 100_000;
  executePayout(world, lapse(world));
  for (const payout of world.service) if (payout.status === 'pending') payout.status = 'approved';
  if (world.state?.serviceToken === undefined) executePayout(world, beginPayoutInquiry(world));
  for (const payout of world.service) executePayout(world, retrievalOf(world, payout));
  for (const { serviceToken } of world.state?.deferredCallbacks ?? [])
    if (serviceToken !== null) executePayout(world, { type: 'RecordCallbackInquired', serviceToken });
}
