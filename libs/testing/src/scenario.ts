import { expect } from 'vitest';

/** The result of a domain's `decide`. */
export type Decision<Event, Refusal> =
  { kind: 'events'; events: readonly Event[] } | { kind: 'refused'; refusal: Refusal };

export interface Domain<State, Command, Event, Refusal extends { code: string }> {
  initial: State;
  evolve(state: State, event: Event): State;
  decide(state: State, command: Command): Decision<Event, Refusal>;
  /** The result of repeating an accepted command: nothing by default, or the code of a refusal. */
  againGives?(command: Command): 'nothing' | Refusal['code'];
}

/**
 * Given events, when a command, then events or a refusal. Every accepted command is run twice, because every command is
 * eventually repeated. A `when` without a `then`
 * fails if the test returns it.
 */
export function scenario<State, Command, Event, Refusal extends { code: string }>(
  domain: Domain<State, Command, Event, Refusal>,
) {
  const { initial, evolve, decide, againGives = () => 'nothing' } = domain;

  const expectAgain = (state: State, command: Command) => {
    const expected = againGives(command);
    expect(summary(decide(state, command)), 'the same command again').toEqual(
      expected === 'nothing' ? { events: [] } : { refused: expected },
    );
  };

  return {
    given: (history: readonly Event[]) => ({
      when: (command: Command) => {
        const before = history.reduce(evolve, initial);
        const decision = decide(before, command);
        return {
          then(expected: readonly Event[]): void {
            expect(summary(decision)).toEqual({ events: expected });
            if (decision.kind === 'events') expectAgain(decision.events.reduce(evolve, before), command);
          },
          thenNothing(): void {
            expect(summary(decision)).toEqual({ events: [] });
          },
          thenRefused(code: Refusal['code']): void {
            expect(summary(decision)).toEqual({ refused: code });
          },
        };
      },
    }),
  };
}

function summary<Event>(
  decision: Decision<Event, { code: string }>,
): { events: readonly Event[] } | { refused: string } {
  return decision.kind === 'events' ? { events: decision.events } : { refused: decision.refusal.code };
}
