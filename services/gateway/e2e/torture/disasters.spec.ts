import { faultNames, faultOperations } from '@tollgate/payment-service/settings';
import { describe, expect, it } from 'vitest';
import { type ArrangementName, arrangementNamed, arrangementNames, usual } from './arrangements.ts';
import { createChance } from './chance.ts';
import { type Disaster, disastersOf, isOutage, pickDisaster, weather } from './disasters.ts';

const everywhere: Disaster[] = ['kill', 'stop', 'hold', 'cut', 'weather', 'clock'];
const of = (name: ArrangementName, hasDisk: boolean) => disastersOf(arrangementNamed(name)!, hasDisk);

describe('what can befall an arrangement', () => {
  it('depends on what it has', () => {
    expect(of('one-process', false)).toEqual(everywhere);
    expect(of('two-gateways', true)).toEqual([...everywhere, 'disk']);
    expect(of('services-kafka', false)).toEqual([...everywhere, 'broker']);
    expect(of('one-process-eventstoredb', false)).toEqual([...everywhere, 'store']);
    expect(of('services-eventstoredb-kafka', true)).toEqual([...everywhere, 'broker', 'store', 'disk']);
  });

  it('goes on beside the rest where it is an outage', () => {
    expect(of('services-eventstoredb-kafka', true).filter(isOutage)).toEqual(['broker', 'store', 'disk']);
  });

  it('is picked by the seed, and nothing is left out', () => {
    const all = of('services-eventstoredb-kafka', true);
    const picked = (seed: string) => {
      const chance = createChance(seed);
      return Array.from({ length: 300 }, () => pickDisaster(chance, all));
    };
    expect(new Set(picked('a'))).toEqual(new Set(all));
    expect(picked('a')).toEqual(picked('a'));
    expect(picked('a')).not.toEqual(picked('b'));
  });
});

it('as weather, every fault of the sandbox comes', () => {
  const chance = createChance('weather');
  const all = Array.from({ length: 500 }, () => weather(chance));
  const kinds = new Set(all.flat().map(({ operation, fault }) => `${operation} ${fault}`));
  const expected = faultOperations.flatMap((each) => faultNames(each).map((fault) => `${each} ${fault}`));
  expect([...kinds].sort()).toEqual(expected.sort());
  expect(all.every((faults) => faults.some(({ operation }) => operation === 'callback'))).toBe(true);
});

it('each shape of processes is tried on each kind of store, and in production’s arrangement on both servers', () => {
  expect(arrangementNames).toHaveLength(12);
  expect(usual.map(({ name }) => name)).toEqual([
    ...['one-process', 'two-gateways', 'services'],
    ...['one-process-kafka', 'two-gateways-kafka', 'services-kafka'],
    ...['one-process-eventstoredb', 'two-gateways-eventstoredb', 'services-eventstoredb'],
    'services-eventstoredb-kafka',
  ]);
});
