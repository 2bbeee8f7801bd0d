import type { CallbackHint } from '@tollgate/core';

const abouts: readonly unknown[] = ['payout', 'refund', 'dispute', 'unknown'];

/** Reads the callbacks of the core's specs; without a type, they are about a payment. */
export const readCallback = ({ type, token, status }: Readonly<Record<string, unknown>>): CallbackHint => ({
  about: abouts.includes(type) ? (type as CallbackHint['about']) : 'payment',
  ...(typeof token === 'string' && { serviceToken: token }),
  ...(typeof status === 'string' && { status }),
});
