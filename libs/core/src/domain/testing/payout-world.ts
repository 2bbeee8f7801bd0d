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
import { callbackInquiry, deferral, failedInquiry, passTime, picked, planWindow } from './world.ts';

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
  ...planWindow(now),
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

const lapse = (world: PayoutWorld): PayoutInput => ({ type: 'RecordApprovalLapsed', at: world.now + dayMs });

type Way = (world: PayoutWorld, pick: number) => unknown;
const atPayout =
  (act: (payout: ServicePayout, pick: number, world: PayoutWorld) => unknown): Way =>
  (world, pick) => {
    const payout = picked(world.service, pick);
    if (payout !== undefined) act(payout, pick, world);
  };
function recordIfAny(world: PayoutWorld, command: PayoutInput | undefined): void {
  if (command !== undefined) executePayout(world, command);
}

const ways = {
  request: (world) =>
    executePayout(world, requestPayout({ call: planCall(world.now), requestedAt: world.now })),
  'request under a used key': (world) =>
    world.state && executePayout(world, requestPayout({ call: planCall(world.now), fingerprint: 'another' })),
  'approval is asked for': (world) => executePayout(world, askApproval(world.now)),
  'second key approves': (world, pick) =>
    executePayout(world, { type: 'GrantPayout', keyId: keyOf(pick), at: world.now }),
  'second key refuses': (world, pick) =>
    executePayout(world, { type: 'RefusePayout', keyId: keyOf(pick), reason: 'a reason' }),
  'approval lapses': (world) => executePayout(world, lapse(world)),
  send,
  'effect of a slow call': slowEffect,
  'answer arrives': (world, pick) => recordIfAny(world, picked(world.answers, pick)),
  crash: (world) => (world.unsent = []),
  'inquiry begins': (world) => world.state && world.inquiries.push(beginPayoutInquiry(world)),
  'inquiry is recorded': (world, pick) => recordIfAny(world, picked(world.inquiries, pick)),
  'snapshot is taken': atPayout((payout, _, world) =>
    world.snapshots.push({ observation: retrievalOf(world, payout), revision: world.history.length }),
  ),
  'snapshot is recorded': recordSnapshot,
  'command is repeated': (world, pick) => {
    const command = picked(world.commands, pick);
    // A retrieval is recorded only by the process that made it, at the revision of its start.
    if (command?.type !== 'RecordPayoutObservation') recordIfAny(world, command);
  },
  'time passes': passTime,
  'hours pass': (world, pick) => (world.now += (1 + (pick % 3)) * 3_600_000),
  'service decides': atPayout((payout, pick) => {
    if (payout.status === 'pending') payout.status = pick % 2 === 0 ? 'approved' : 'declined';
  }),
  'operator revises': atPayout((payout) => {
    if (payout.status !== 'pending') payout.status = payout.status === 'approved' ? 'declined' : 'approved';
  }),
  'operator opens it again': atPayout((payout) => (payout.status = 'pending')),
  'operator freezes it': atPayout((payout) => (payout.status = 'frozen')),
  'operator corrects the amount': atPayout((payout) => {
    payout.amount = payout.amount === payoutTerms.amount ? 900 : payoutTerms.amount;
  }),
  'another installation pays it out': payOutElsewhere,
  'payout goes missing': atPayout(({ serviceToken }, _, world) =>
    executePayout(world, { type: 'RecordMissing', serviceToken, inquiredAt: world.now }),
  ),
  'callback is deferred': (world, pick) => executePayout(world, deferral(world, pick)),
  'callback is inquired': (world, pick) => recordIfAny(world, callbackInquiry(pick)),
  'inquiry fails': (world, pick) => executePayout(world, failedInquiry(world, pick)),
  'person resolves': (world, pick) => recordIfAny(world, personResolves(world, pick)),
} satisfies Record<string, Way>;

type PayoutHappeningKind = keyof typeof ways;
export const payoutHappeningKinds = Object.keys(ways) as PayoutHappeningKind[];

/** Performs one action; none if there is no candidate. */
export function happenToPayout(world: PayoutWorld, { kind, pick }: PayoutHappening): void {
  ways[kind](world, pick);
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
