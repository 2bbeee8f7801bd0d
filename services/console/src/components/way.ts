/** The way that a payment took through its machine, and where it may still go. */
import {
  type PaymentMachineEvent,
  type PaymentMachineState,
  type PaymentPhase,
  paymentWalk,
} from '@tollgate/core';
import type { MachineEdge } from './machine-layout.ts';

/** As the history of the API tells it. */
export interface HistoryEvent {
  type: string;
  at: string;
  phase: string;
}

export interface Step extends MachineEdge {
  at: string;
  /** How long the payment had been in `from`, milliseconds. */
  spentMs: number;
}

export interface Way {
  steps: readonly Step[];
  visited: ReadonlySet<string>;
  /** Where it is: of the lifecycle, and of the refund lane. */
  now: ReadonlySet<string>;
  /** Where it may still come, by whatever follows. */
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

/** What the machine asks of an event beside its type is what the phase after it tells. */
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

/** What the machine asks of an event beside its type, either way. */
const variants = (type: string): PaymentMachineEvent[] =>
  [true, false].map((inFull) => ({ type, inFull }) as unknown as PaymentMachineEvent);

/** A final state is revised by the Payment Service only, which is no way that anybody expects. */
const isExpected = (state: PaymentMachineState, type: string): boolean =>
  type !== 'FinalStatusRevised' &&
  variants(type).some((event) => paymentWalk.next(state, event) !== undefined);

/** Walks the machine itself: what leads on in one region may depend on the other. */
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
