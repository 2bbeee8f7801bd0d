import { describeTimeBound } from '@tollgate/testing/time-bound';
import { parseIdempotencyKey, refuseCardNumbers, refuseEmails, textsOf } from './requests.ts';

const header = 16 * 1024;
/** The longest text of a valid request: a URL. */
const field = 2_048;

describeTimeBound([
  ['Idempotency-Key', header, (text) => parseIdempotencyKey(text, undefined)],
  ['fields of a payment', field, (text) => refuseCardNumbers({ product: text, customer: { email: text } })],
  ['search for e-mail addresses', header, (text) => refuseEmails({ product: text })],
  ['metadata', field, (text) => refuseCardNumbers(textsOf({ [text]: text }))],
]);
