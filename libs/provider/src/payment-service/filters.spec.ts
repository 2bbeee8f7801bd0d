import { describeTimeBound } from '@tollgate/testing/time-bound';
import { readCallback, redactCallback } from './callback.ts';
import { classify } from './classify.ts';
import { repeatsSecret } from './secrets.ts';

const callback = 16 * 1024;
const answer = 64 * 1024;

const bytesOf = (value: unknown) => Buffer.from(JSON.stringify(value));
const classified = (body: unknown) =>
  classify({ kind: 'answered', statusCode: 400, body: bytesOf(body) }, () => ({ fault: 'none' }), [
    '4392963203551251',
  ]);

describeTimeBound([
  // Its bytes are searched as they are, as they are read, and field by field.
  ['callback', callback / 4, (text) => redactCallback(bytesOf({ token: text }), { token: text })],
  ['callback of many fields', callback, (text) => redactCallback(new Uint8Array(), fieldsOf(text))],
  ['hint', callback, (text) => readCallback({ type: text, token: text, status: text })],
  ['refusal', answer, (text) => classified({ success: false, errors: { message: text, code: text } })],
  ['refusal with a field of that name', answer, (text) => classified({ success: false, [text]: text })],
  ['search for a secret', answer, (text) => repeatsSecret(text, ['4392963203551251', '737'])],
]);

const fieldsOf = (text: string) =>
  Object.fromEntries(
    Array.from({ length: text.length / 16 }, (_none, index) => [`k${index}`, text.slice(0, 8)]),
  );
