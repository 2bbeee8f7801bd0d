/** Payments and payouts with a callbackUrl, and their webhooks, for specs. */
import type { PaymentEvent, PayoutEvent } from '@tollgate/core';
import type { ViewEnvelope } from '@tollgate/views';
import {
  payoutRequested,
  requested,
  toRecordedIn,
  type AnyEvent,
  type PayoutRequestedOptions,
  type RequestedOptions,
} from '@tollgate/views/testing';
import { type DueWebhook, noticesOf, type Subject } from '../notices.ts';

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

/** A webhook about an approved payment. */
export const dueOf = (token: string, changes: Partial<DueWebhook> = {}): DueWebhook => ({
  id: `whk_${token}`,
  environment: 'sandbox',
  team: 'shop',
  url: 'https://shop.example/hook',
  body: { token, type: 'payment', status: 'approved', orderNumber: null, amount: 1, currency: 'EUR' },
  at: 0,
  ...changes,
});

/** The webhooks due for each event of a history, without endpoints. */
export function noticesAlong<View extends ViewEnvelope>(
  subject: Subject<View>,
  stream: string,
  history: readonly AnyEvent[],
): DueWebhook[][] {
  let before: View | undefined;
  return toRecordedIn(stream, history).map((event) => {
    const after = subject.kind.fold(before, event);
    const notices = noticesOf(subject, event, { before, after }, { endpoints: [], now: 42 });
    before = after;
    return notices.flatMap(({ due }) => due);
  });
}

/** Type and status of each. */
export const textsOf = (notices: readonly (readonly DueWebhook[])[]): string[][] =>
  notices.map((each) => each.map(({ body }) => `${body.type} ${body.status}`));
