/**
 * Walks a state machine without an actor. Pure, and cached, since a transition costs tens of microseconds and folds take
 * millions.
 */
import { transition, type AnyMachineSnapshot, type AnyStateMachine, type StateValue } from 'xstate';
import { InvariantViolation } from './invariant.ts';

/** A machine's state, by region; a nested state is written `outer.inner`. */
export type Regions = Readonly<Record<string, string>>;

export interface MachineWalk<State extends Regions, Event extends { type: string }> {
  /** The next state, or undefined if the event is not allowed. */
  next(state: State, event: Event): State | undefined;
  /** As `next`. @throws InvariantViolation if the event is not allowed */
  require(state: State, event: Event): State;
}

/** @param machine parallel if `State` has several regions */
export function createMachineWalk<State extends Regions, Event extends { type: string }>(
  machine: AnyStateMachine,
): MachineWalk<State, Event> {
  const isParallel = machine.root.type === 'parallel';
  const known = new Map<string, State | null>();

  function walk(state: State, event: Event): State | null {
    const values = Object.fromEntries(Object.entries(state).map(([region, at]) => [region, toValue(at)]));
    const [only = ''] = Object.keys(state);
    const value: StateValue = isParallel ? values : (values[only] ?? '');
    const snapshot = machine.resolveState({ value, context: {} }) as AnyMachineSnapshot;
    // XState ignores an event that is not allowed.
    if (!snapshot.can(event)) return null;
    const next = (transition(machine, snapshot, event)[0] as AnyMachineSnapshot).value as StateValue;
    const regions = isParallel ? (next as Record<string, StateValue>) : { [only]: next };
    return Object.fromEntries(
      Object.entries(regions).map(([region, at]) => [region, fromValue(at)]),
    ) as State;
  }

  function next(state: State, event: Event): State | undefined {
    const key = `${Object.values(state).join(' ')} ${Object.values(event).join(' ')}`;
    let found = known.get(key);
    if (found === undefined) known.set(key, (found = walk(state, event)));
    return found ?? undefined;
  }

  return {
    next,
    require(state, event) {
      const found = next(state, event);
      if (found !== undefined) return found;
      throw new InvariantViolation(`${event.type} is not allowed in ${Object.values(state).join(', ')}`);
    },
  };
}

function toValue(at: string): StateValue {
  const [outer = '', inner] = at.split('.');
  return inner === undefined ? outer : { [outer]: inner };
}

function fromValue(value: StateValue): string {
  if (typeof value === 'string') return value;
  return Object.entries(value).map(([outer, inner]) => `${outer}.${fromValue(inner as StateValue)}`)[0] ?? '';
}
