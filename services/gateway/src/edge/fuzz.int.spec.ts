/**
 * Every route answers arbitrary input, and never with 5xx unless the answer names what is missing. A failing request is
 * shrunk and printed.
 */
import { givenTeam } from '@tollgate/teams/testing';
import { paymentKind } from '@tollgate/views';
import { projectEvents, happening, requested } from '@tollgate/views/testing';
import { isWholeRun } from '@tollgate/testing';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { startApi } from './testing/api.ts';

const { accepted, approved, reviews } = happening;
const hostileTexts = [
  '',
  ' ',
  '.',
  '..',
  '/',
  '%',
  '%00',
  '\u0000',
  '\ud800',
  '\u202e',
  '🧾',
  'null',
  'true',
  '[]',
  '{}',
  '0',
  '-1',
  '1e400',
  '9007199254740993',
  '0x10',
  'NaN',
  '2030-02-31',
  '+275760-09-13',
  '2030-01-01T00:00:00Z',
  '__proto__',
  'constructor',
  'toString',
  "' OR 1=1 --",
  '%',
  '_',
  '*',
  'pay_1',
  'x'.repeat(5_000),
];
const text = fc.oneof(
  { arbitrary: fc.constantFrom(...hostileTexts), weight: 2 },
  fc.string({ maxLength: 40, unit: 'binary' }),
);
const value = fc.oneof(text, fc.jsonValue({ maxDepth: 2 }), fc.double(), fc.bigInt().map(String));

/** Names known to the routes, so that odd input gets past the first refusal. */
const names = `
  amount currency orderNumber callbackUrl product token card pan expires cvv holder recurring
  recurringToken needConfirmation redirectUrl customer email ip metadata locale destination
  bankAccount account bankName code number resolution reason id day cursor before from to status
  phase team environment sort page perPage dateFrom dateTo needsReview type format __proto__ success
`
  .trim()
  .split(/\s+/);
const name = fc.oneof({ arbitrary: fc.constantFrom(...names), weight: 4 }, text);
const likely = {
  product: 'Tea',
  amount: 1_500,
  currency: 'EUR',
  orderNumber: 'o-1',
  callbackUrl: 'https://shop.example/x',
  token: 'pay_1',
  code: 'discrepancy',
  number: 1,
  resolution: 'keep_ours',
  reason: 'seen',
};
const odd = fc.dictionary(name, value, { maxKeys: 4 });
const body = fc.oneof(
  odd.map((changes) => JSON.stringify({ ...likely, ...changes })),
  fc
    .tuple(fc.constantFrom(...Object.keys(likely)), value)
    .map(([key, odd]) => JSON.stringify({ [key]: odd })),
  fc.jsonValue().map((any) => JSON.stringify(any)),
  fc.string({ maxLength: 200 }),
  fc.constantFrom('', '{', '{"a":1,"a":2}', '['.repeat(3_000), '"' + 'x'.repeat(70_000) + '"'),
);
const headers = fc.record(
  {
    'idempotency-key': text,
    'content-type': fc.constantFrom(
      'application/json',
      'application/json',
      'application/json',
      'text/plain',
      'application/json; charset=x',
      '',
    ),
    accept: fc.constantFrom('*/*', 'text/html', 'application/json', ''),
    'if-none-match': text,
    'x-request-id': text,
    'tollgate-min-position': text,
  },
  { requiredKeys: ['content-type'] },
);

/** Input that HTTP itself cannot carry never reaches a route. */
const carriable = (given: Record<string, string>) =>
  Object.fromEntries(Object.entries(given).filter(([, each]) => /^[\x20-\x7e\x80-\xff]*$/.test(each)));

/** A 5xx with a reason: an invented position is never reached. */
const expectedCodes = new Set(['read_model_behind']);
const isExpected = (text: string): boolean =>
  (JSON.parse(text) as { errors: { code: string }[] }).errors.every(({ code }) => expectedCodes.has(code));
const runsPerRoute = isWholeRun ? 8 : 3;

it('every route answers any input, and never with an error of its own', async () => {
  let key = '';
  const { app, routes, bearerOf } = await startApi(async (store) => {
    key = await givenTeam(store, { team: 'shop', keyId: 'k1' });
    await projectEvents(store, paymentKind, 'pay_1', [requested({}), accepted, approved, reviews]);
  });
  const person = bearerOf('admin');
  const parts = fc.array(text, { minLength: 4, maxLength: 4 });
  const asked = fc.record({ parts, query: odd, body, headers, isPerson: fc.boolean() });
  let count = 0;
  for (const { method, url } of routes) {
    if (method !== 'GET' && method !== 'POST') continue;
    const property = fc.asyncProperty(asked, async (given) => {
      const answer = await app.inject({
        method,
        url: addressOf(url, given),
        headers: {
          authorization: given.isPerson ? person : `Bearer ${key}`,
          ...carriable(given.headers),
        },
        ...(method === 'GET' ? {} : { payload: given.body }),
      });
      count += 1;
      if (answer.statusCode < 500 || isExpected(answer.body)) return;
      expect([method, url, answer.statusCode, answer.body.slice(0, 200)]).toEqual([]);
    });
    await fc.assert(property, { numRuns: runsPerRoute });
  }
  expect(count).toBeGreaterThan(200);
});

function addressOf(
  url: string,
  { parts, query }: { parts: string[]; query: Record<string, unknown> },
): string {
  let index = 0;
  const path = url.replace(/:\w+|\*/g, () => encodeURIComponent((parts[index++] ?? '').toWellFormed()));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    search.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  return `${path}?${search.toString()}`;
}
