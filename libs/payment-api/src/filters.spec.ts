// One request with `abab…` held the process for seconds: the filter of card numbers took time cubic in the length.
import { describeTimeBound } from '@tollgate/testing/time-bound';
import {
  createPaymentRequestSchema,
  httpUrlSchema,
  payoutRequestSchema,
  refundRequestSchema,
} from './schemas.ts';
import { isVisibleText } from './visible-text.ts';
import { containsCardNumber, isOnlyCardNumber, maskedText } from '@tollgate/service-kit';

const callback = 16 * 1024;
const body = 64 * 1024;
const answer = 8 * 1024 * 1024;

describeTimeBound([
  ['search for a card number', callback, (text) => containsCardNumber(cutTo(callback, text))],
  ['search for an account that is a card number', 255, isOnlyCardNumber],
  ['mask', answer, (text) => maskedText(text, 1_000)],
  ['check of visible text', body, isVisibleText],
  ['check of a URL', body, (text) => httpUrlSchema.safeParse(text)],
  ['check of a payment', body, (text) => createPaymentRequestSchema.safeParse(paymentOf(text))],
  ['check of a payout', body, (text) => payoutRequestSchema.safeParse(payoutOf(text))],
  ['check of a refund', body, (text) => refundRequestSchema.safeParse({ token: text, [text]: 1 })],
]);

/** Limits of bodies are bytes, and other digits than ours have several. */
const cutTo = (bytes: number, text: string): string => Buffer.from(text).subarray(0, bytes).toString();

const paymentOf = (text: string) => ({
  product: text,
  amount: 1,
  currency: text,
  orderNumber: text,
  locale: text,
  recurringToken: text,
  callbackUrl: text,
  redirectSuccessUrl: text,
  redirectFailUrl: text,
  customer: { email: text, ip: text },
  card: { pan: text, expires: text, holder: text, cvv: text },
});

const payoutOf = (text: string) => ({
  amount: 1,
  currency: text,
  orderNumber: text,
  callbackUrl: text,
  destination: { card: { pan: text, expires: text }, recurringToken: text, bankAccount: { account: text } },
});
