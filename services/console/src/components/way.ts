/** The path of a payment through its state machine, and its possible next states. */
import {
  type PaymentMachineEvent,
  type PaymentMachineState,
  type PaymentPhase,
  paymentWalk,
} from '@tollgate/core';
import type { MachineEdge } from './machine-layout.ts';

/** As returned by the API's history. */
export interface HistoryEvent {
  type: string;
  at: string;
  phase: string;
}

export interface Step extends MachineEdge {
  at: string;
  /** Time spent in `from`. @unit milliseconds */
  spentMs: number;
}

export interface Way {
  steps: readonly Step[];
  visited: ReadonlySet<string>;
  /** Current states: of the lifecycle, and of the refund lane. */
  now: ReadonlySet<string>;
  /** All states that may still be reached. */
  ahead: ReadonlySet<string>;
  /** Transitions that the machine allows now. */
  next: readonly MachineEdge[];
}

const statesOf = ({ lifecycle, refund }: PaymentMachineState): [string, string] => [
  lifecycle,
  `refund.${refund}`,
];

function beginningOf({ type, phase }: HistoryEvent): PaymentMachineState {
  const lifecycle =
    type === 'PaymentRequested'
      ? ('creating.announced' as const)
      : (phase as Exclude<PaymentPhase, 'requested' | 'unresolved' | 'capturing' | 'voiding'>);
  return { lifecycle, refund: 'idle' };
}

/** The machine's guards need more than the event's type; the phase after the event provides it. */
const toMachineEvent = ({ type, phase }: HistoryEvent): PaymentMachineEvent =>
  ({ type, inFull: phase === 'refunded', to: phase }) as unknown as PaymentMachineEvent;

export function wayOf(events: readonly HistoryEvent[], edges: readonly MachineEdge[]): Way {
  const [first, ...rest] = events;
  if (first === undefined)
    return { steps: [], visited: new Set(), now: new Set(), ahead: new Set(), next: [] };
  let state = beginningOf(first);
  const since = new Map(statesOf(state).map((id) => [id, Date.parse(first.at)]));
  const steps: Step[] = [];
  const visited = new Set(statesOf(state));
  for (const event of rest) {
    const next = paymentWalk.next(state, toMachineEvent(event));
    if (next === undefined) continue;
    const at = Date.parse(event.at);
    const before = statesOf(state);
    statesOf(next).forEach((to, region) => {
      const from = before[region] ?? '';
      if (from === to) return;
      steps.push({ from, to, event: event.type, at: event.at, spentMs: at - (since.get(from) ?? at) });
      since.set(to, at);
      visited.add(to);
    });
    state = next;
  }
  const now = new Set(statesOf(state));
  const next = edges.filter(({ from, event }) => now.has(from) && isExpected(state, event));
  return { steps, visited, now, ahead: reachableFrom(state, edges), next };
}

/** Both variants of an event that the machine's guards distinguish. */
const variants = (type: string): PaymentMachineEvent[] =>
  [true, false].map((inFull) => ({ type, inFull }) as unknown as PaymentMachineEvent);

/** Only the Payment Service revises a final state, so a revision is not an expected path. */
const isExpected = (state: PaymentMachineState, type: string): boolean =>
  type !== 'FinalStatusRevised' &&
  variants(type).some((event) => paymentWalk.next(state, event) !== undefined);

/** Walks the machine itself: transitions of one region may depend on the other. */
function reachableFrom(begin: PaymentMachineState, edges: readonly MachineEdge[]): Set<string> {
  const events = [...new Set(edges.map(({ event }) => event))]
    .filter((type) => type !== 'FinalStatusRevised')
    .flatMap(variants);
  const seen = new Set<string>();
  const found = new Set<string>();
  const waiting = [begin];
  for (let state = waiting.pop(); state !== undefined; state = waiting.pop()) {
    const ids = statesOf(state);
    const key = ids.join(' ');
    if (seen.has(key)) continue;
    seen.add(key);
    for (const id of ids) found.add(id);
    for (const event of events) {
      const next = paymentWalk.next(state, event);
      if (next !== undefined) waiting.push(next);
    }
  }
  return found;
}
