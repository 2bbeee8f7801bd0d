import { expect, it } from 'vitest';
import { createMachine } from 'xstate';
import { InvariantViolation, unreachable } from './invariant.ts';
import { createMachineWalk } from './machine-walk.ts';

const region = (initial: string, other: string) => ({
  initial,
  states: { [initial]: { on: { TURN: other } }, [other]: {} },
});
/** Two regions whose states look alike if they are joined without a separator. */
const walk = createMachineWalk<{ one: string; two: string }, { type: string }>(
  createMachine({ type: 'parallel', states: { one: region('a', 'ab'), two: region('bc', 'c') } }),
);

it('moves every region that an event affects', () => {
  expect(walk.next({ one: 'a', two: 'bc' }, { type: 'TURN' })).toEqual({ one: 'ab', two: 'c' });
});

it('caches each state separately', () => {
  expect(walk.next({ one: 'a', two: 'bc' }, { type: 'TURN' })).toEqual({ one: 'ab', two: 'c' });
  expect(walk.next({ one: 'ab', two: 'c' }, { type: 'TURN' })).toBeUndefined();
  expect(walk.next({ one: 'a', two: 'c' }, { type: 'TURN' })).toEqual({ one: 'ab', two: 'c' });
});

it('caches each event separately', () => {
  const single = createMachineWalk<{ all: string }, { type: string; to?: string }>(
    createMachine({ initial: 'a', states: { a: { on: { TURNED: 'b' } }, b: {} } }),
  );
  expect(single.next({ all: 'a' }, { type: 'TURN', to: 'ED' })).toBeUndefined();
  expect(single.next({ all: 'a' }, { type: 'TURNED' })).toEqual({ all: 'b' });
});

it('reports the disallowed event and the state', () => {
  const refused = () => walk.require({ one: 'ab', two: 'c' }, { type: 'TURN' });
  expect(refused).toThrow(new InvariantViolation('TURN is not allowed in ab, c'));
  expect(walk.require({ one: 'ab', two: 'bc' }, { type: 'TURN' })).toEqual({ one: 'ab', two: 'c' });
});

it('reports a broken invariant if the domain rules the event out', () => {
  expect(() => unreachable({ type: 'Unheard' } as never)).toThrow(
    new InvariantViolation('unexpected value: {"type":"Unheard"}'),
  );
  expect(new InvariantViolation('so')).toMatchObject({
    name: 'InvariantViolation',
    code: 'invariant_violation',
    message: 'so',
  });
});
