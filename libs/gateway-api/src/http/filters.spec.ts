import { describeTimeBound } from '@tollgate/testing/time-bound';
import { keptText, mayBeKept } from './kept-text.ts';
import {
  eventFeedSchema,
  operatorPaymentListSchema,
  paymentListSchema,
  requestListSchema,
} from './queries.ts';
import { bodySchemas } from './requests.ts';

const header = 16 * 1024;
const body = 64 * 1024;

describeTimeBound([
  // Without a key: one such request blocked the process for hours.
  ['X-Request-Id', header, mayBeKept],
  ['text of the security log', body, keptText],
  [
    'metadata',
    body / 4,
    (text) => bodySchemas.PaymentRequest.safeParse({ metadata: { [text]: text, a: text } }),
  ],
  ['reason', body, (text) => bodySchemas.Resolution.safeParse({ code: text, reason: text })],
  [
    'webhook URL',
    body,
    (text) => bodySchemas.WebhookEndpointRequest.safeParse({ url: text, description: text }),
  ],
  ['query of a list', header, (text) => paymentListSchema.safeParse(queryOf(text))],
  ['query of an operator', header, (text) => operatorPaymentListSchema.safeParse(queryOf(text))],
  ['query of requests', header, (text) => requestListSchema.safeParse({ status: text, cursor: text })],
  ['query of the feed', header, (text) => eventFeedSchema.safeParse({ after: text, wait: text })],
]);

const queryOf = (text: string) => ({
  orderNumber: text,
  status: text,
  createdFrom: text,
  cursor: text,
  perPage: text,
  currency: text,
  metadata: { [text]: text },
  amountFrom: text,
});
