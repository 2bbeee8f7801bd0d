import { describe, expect, it } from 'vitest';
import { findInLedger } from './sandbox.ts';

const payment = { token: 'pay_a', orderNumber: 'order-1' };
const ledger = (...payments: { token: string; orderNumber: string | null }[]) => ({ body: { payments } });

describe("the sandbox's token of a payment", () => {
  it.each([
    { name: 'is the same where nothing stands between', orderNumber: 'any', token: 'pay_a' },
    { name: 'is found by the orderNumber that was passed on', orderNumber: 'order-1', token: 's1' },
    { name: 'is found by the token that was passed on instead', orderNumber: 'pay_a', token: 's1' },
    { name: 'is found by the token and the number of an attempt', orderNumber: 'pay_a.1', token: 's1' },
  ])('$name', ({ orderNumber, token }) => {
    const others = { token: 's0', orderNumber: 'pay_ab.1' };
    expect(findInLedger(ledger(others, { token, orderNumber }), payment)).toBe(token);
  });

  it('is that of the last attempt', () => {
    const attempts = [1, 2].map((number) => ({ token: `s${number}`, orderNumber: `pay_a.${number}` }));
    expect(findInLedger(ledger(...attempts), payment)).toBe('s2');
  });

  it('is not guessed', () => {
    expect(findInLedger(ledger({ token: 's0', orderNumber: null }), payment)).toBeUndefined();
    expect(findInLedger({ body: undefined }, payment)).toBeUndefined();
  });
});
