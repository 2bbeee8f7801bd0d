/** The result of a pure decision: events to append atomically (none if nothing is new), or a refusal. */
export type Decision<Event, Refusal> = { kind: 'events'; events: readonly Event[] } | Refused<Refusal>;
export interface Refused<Refusal> {
  kind: 'refused';
  refusal: Refusal;
}

export const events = <Event>(...list: Event[]): { kind: 'events'; events: readonly Event[] } => ({
  kind: 'events',
  events: list,
});
export const refuse = <Refusal>(refusal: Refusal): Refused<Refusal> => ({ kind: 'refused', refusal });

/** Applies steps in order, each to the state after the previous one. */
export function inOrder<State, Event>(
  state: State,
  evolve: (state: State, event: Event) => State,
  steps: readonly ((state: State) => readonly Event[])[],
): Event[] {
  const all: Event[] = [];
  let now = state;
  for (const step of steps) {
    const more = step(now);
    all.push(...more);
    now = more.reduce(evolve, now);
  }
  return all;
}
