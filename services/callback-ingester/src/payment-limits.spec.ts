import { createFakeClock } from '@tollgate/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { createPaymentLimits, unitEveryMs } from './payment-limits.ts';

const clock = createFakeClock();
let limits: ReturnType<typeof createPaymentLimits>;
beforeEach(() => {
  limits = createPaymentLimits({ clock });
});

const admit = (bytes = 100, payment = 'pay_1', isStored = true) =>
  limits.admit(payment, bytes, () => Promise.resolve(isStored));
const times = <Result>(count: number, act: () => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, act));

// 400 callbacks of 16 KiB at one URL were stored, and caused 421 calls of the provider.
describe('of the callbacks of one payment', () => {
  it('thirty are stored at once, and then one every twenty seconds', async () => {
    const kinds = await times(400, () => admit());
    expect(kinds.filter((kind) => kind === 'stored')).toHaveLength(30);
    expect(kinds.filter((kind) => kind === 'limited')).toHaveLength(370);
    await clock.advance(unitEveryMs);
    expect([await admit(), await admit()]).toEqual(['stored', 'limited']);
  });

  it.each([
    ['large ones count for more', 16 * 1_024, 1],
    ['empty ones count', 0, 30],
  ])('%s', async (_name, bytes, stored) => {
    const kinds = await times(400, () => admit(bytes));
    expect(kinds.filter((kind) => kind === 'stored')).toHaveLength(stored);
  });

  it('another payment is not affected', async () => {
    await times(100, () => admit());
    expect(await admit(100, 'pay_2')).toBe('stored');
  });
});

it('an unavailable bus does not count against a payment', async () => {
  await times(100, () => admit(100, 'pay_1', false));
  expect(new Set(await times(30, () => admit()))).toEqual(new Set(['stored']));
});
