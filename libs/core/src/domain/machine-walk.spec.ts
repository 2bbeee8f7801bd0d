import { expect, it } from 'vitest';
import { createMachine } from 'xstate';
import { InvariantViolation, unreachable } from './invariant.ts';
import { createMachineWalk } from './machine-walk.ts';

const region = (initial: string, other: string) => ({
  initial,
  states: { [initial]: { on: { TURN: other } }, [other]: {} },
});
/** Two regions whose states read alike when they are written without anything between them. */
const walk = createMachineWalk<{ one: string; two: string }, { type: string }>(
  createMachine({ type: 'parallel', states: { one: region('a', 'ab'), two: region('bc', 'c') } }),
);

it('moves every region that an event concerns', () => {
  expect(walk.next({ one: 'a', two: 'bc' }, { type: 'TURN' })).toEqual({ one: 'ab', two: 'c' });
});

it('remembers each place apart', () => {
  expect(walk.next({ one: 'a', two: 'bc' }, { type: 'TURN' })).toEqual({ one: 'ab', two: 'c' });
  expect(walk.next({ one: 'ab', two: 'c' }, { type: 'TURN' })).toBeUndefined();
  expect(walk.next({ one: 'a', two: 'c' }, { type: 'TURN' })).toEqual({ one: 'ab', two: 'c' });
});

it('remembers each event apart', () => {
  const single = createMachineWalk<{ all: string }, { type: string; to?: string }>(
    createMachine({ initial: 'a', states: { a: { on: { TURNED: 'b' } }, b: {} } }),
  );
  expect(single.next({ all: 'a' }, { type: 'TURN', to: 'ED' })).toBeUndefined();
  expect(single.next({ all: 'a' }, { type: 'TURNED' })).toEqual({ all: 'b' });
});

it('says what is not allowed, and where', () => {
  const refused = () => walk.require({ one: 'ab', two: 'c' }, { type: 'TURN' });
  expect(refused).toThrow(new InvariantViolation('TURN is not allowed in ab, c'));
  expect(walk.require({ one: 'ab', two: 'bc' }, { type: 'TURN' })).toEqual({ one: 'ab', two: 'c' });
});

it('what the domain rules out is reported as a broken invariant', () => {
  expect(() => unreachable({ type: 'Unheard' } as never)).toThrow(
    new InvariantViolation('unexpected value: {"type":"Unheard"}'),
  );
  expect(new InvariantViolation('so')).toMatchObject({
    name: 'InvariantViolation',
    code: 'invariant_violation',
    message: 'so',
  });
});
