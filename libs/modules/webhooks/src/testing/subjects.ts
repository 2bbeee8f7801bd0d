/** Payments and payouts with a callbackUrl, for specs. */
import type { PaymentEvent, PayoutEvent } from '@tollgate/core';
import {
  payoutRequested,
  requested,
  type PayoutRequestedOptions,
  type RequestedOptions,
} from '@tollgate/views/testing';

/** The first event of a payment with a callback address. */
export function requestedWithCallback(callbackUrl: string, options: RequestedOptions = {}): PaymentEvent {
  const event = requested({ orderNumber: 'order-1', ...options });
  if (event.type !== 'PaymentRequested') throw new Error('a payment begins with its request');
  return { ...event, data: { ...event.data, terms: { ...event.data.terms, callbackUrl } } };
}

/** The first event of a payout with a callback address. */
export function payoutWithCallback(callbackUrl: string, options: PayoutRequestedOptions = {}): PayoutEvent {
  const event = payoutRequested(options);
  if (event.type !== 'PayoutRequested') throw new Error('a payout begins with its request');
  return { ...event, data: { ...event.data, terms: { ...event.data.terms, callbackUrl } } };
}
