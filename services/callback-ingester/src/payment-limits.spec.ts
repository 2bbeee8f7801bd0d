import { createFakeClock } from '@tollgate/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { type PaymentLimits, createPaymentLimits, unitEveryMs } from './payment-limits.ts';

const clock = createFakeClock();
let limits: PaymentLimits;
let stored: string[];
beforeEach(() => {
  limits = createPaymentLimits({ clock });
  stored = [];
});

const store = (body: string, isStored = true) => {
  stored.push(body);
  return Promise.resolve(isStored);
};
const admit = async (body: string, payment = 'pay_1', isStored = true) =>
  (await limits.admit(payment, Buffer.from(body), () => store(body, isStored))).kind;
const times = <Result>(count: number, act: (number: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, number) => act(number)));

// 400 callbacks of 16 KiB at one address were kept, and made 421 calls of the provider.
describe('of the callbacks of one payment', () => {
  it('thirty are stored at once, and then one every twenty seconds', async () => {
    const kinds = await times(400, (number) => admit(`${number}`));
    expect(kinds.filter((kind) => kind === 'stored')).toHaveLength(30);
    expect(kinds.filter((kind) => kind === 'limited')).toHaveLength(370);
    await clock.advance(unitEveryMs);
    expect([await admit('one more'), await admit('and another')]).toEqual(['stored', 'limited']);
  });

  it('large ones count for more', async () => {
    const kinds = await times(400, (number) => admit(`${number}`.padEnd(16 * 1_024, 'x')));
    expect(kinds.filter((kind) => kind === 'stored')).toHaveLength(1);
  });

  it('nothing is taken from those of another', async () => {
    await times(100, (number) => admit(`${number}`));
    expect(await admit('1', 'pay_2')).toBe('stored');
  });
});

describe('a callback that is repeated', () => {
  it('is stored once, and costs nothing', async () => {
    expect(await times(500, () => admit('same'))).toEqual(['stored', ...Array(499).fill('repeated')]);
    expect(stored).toEqual(['same']);
    expect(await admit('other')).toBe('stored');
  });

  // What was declined in between is news again when it is approved once more.
  it('is stored again where another one came between, or after ten minutes', async () => {
    expect([await admit('approved'), await admit('declined'), await admit('approved')]).toEqual([
      'stored',
      'stored',
      'stored',
    ]);
    await clock.advance(10 * 60_000);
    expect(await admit('approved')).toBe('stored');
  });

  it('counts as stored only once the first one is, and not where that fails', async () => {
    const storing = Promise.withResolvers<boolean>();
    const body = Buffer.from('same');
    const both = [1, 2].map(() => limits.admit('pay_1', body, () => storing.promise));
    storing.resolve(false);
    expect(await Promise.all(both)).toEqual([{ kind: 'not_stored' }, { kind: 'not_stored' }]);
    expect(await admit('same')).toBe('stored');
  });
});

it('a bus that is away costs a payment nothing', async () => {
  await times(100, (number) => admit(`${number}`, 'pay_1', false));
  const kinds = await times(30, (number) => admit(`again ${number}`));
  expect(new Set(kinds)).toEqual(new Set(['stored']));
});
