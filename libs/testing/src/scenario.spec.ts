import { describe, expect, it } from 'vitest';
import { scenario, type Decision, type Domain } from './scenario.ts';

// A door that can be opened and closed, and whose handle may be dropped once.
type Command = 'open' | 'close' | 'drop the handle';
type Event = 'opened' | 'closed' | 'handle dropped';
type Refusal = { code: 'handle-missing' };
interface Door {
  isOpen: boolean;
  hasHandle: boolean;
}

const door: Domain<Door, Command, Event, Refusal> = {
  initial: { isOpen: false, hasHandle: true },
  evolve: (state, event) =>
    event === 'handle dropped' ? { ...state, hasHandle: false } : { ...state, isOpen: event === 'opened' },
  decide: ({ isOpen, hasHandle }, command): Decision<Event, Refusal> => {
    if (!hasHandle) return { kind: 'refused', refusal: { code: 'handle-missing' } };
    if (command === 'drop the handle') return { kind: 'events', events: ['handle dropped'] };
    if ((command === 'open') === isOpen) return { kind: 'events', events: [] };
    return { kind: 'events', events: [isOpen ? 'closed' : 'opened'] };
  },
  againGives: (command) => (command === 'drop the handle' ? 'handle-missing' : 'nothing'),
};
const { given } = scenario(door);

describe('a scenario that is met', () => {
  it('with events', () => given([]).when('open').then(['opened']));
  it('with nothing', () => given(['opened']).when('open').thenNothing());
  it('with a refusal', () => given(['handle dropped']).when('open').thenRefused('handle-missing'));
  it('with a command that is refused the second time, as announced', () =>
    given([]).when('drop the handle').then(['handle dropped']));
});

describe('a scenario that is not met fails', () => {
  it('on other events', () => {
    expect(() => given([]).when('open').then(['closed'])).toThrow();
    expect(() => given(['opened']).when('open').then(['opened'])).toThrow();
  });

  it('on events instead of nothing or of a refusal', () => {
    expect(() => given([]).when('open').thenNothing()).toThrow();
    expect(() => given([]).when('open').thenRefused('handle-missing')).toThrow();
  });

  it('on a refusal instead of events or of nothing', () => {
    expect(() => given(['handle dropped']).when('open').then(['opened'])).toThrow(/handle-missing/);
    expect(() => given(['handle dropped']).when('open').thenNothing()).toThrow(/handle-missing/);
  });

  it('when the command does its work twice', () => {
    const forgetful = scenario({ ...door, evolve: (state) => state });
    expect(() => forgetful.given([]).when('open').then(['opened'])).toThrow(/the same command again/);
  });

  it('if no result was declared', async () => {
    const forgotten: unknown = given([]).when('open');
    await expect(Promise.resolve(forgotten)).rejects.toThrow();
  });
});
