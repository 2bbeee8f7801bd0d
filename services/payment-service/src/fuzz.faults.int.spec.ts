import { propertyRuns } from '@tollgate/testing';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorsOf, startHarness, type Harness, type JsonAnswer } from './testing/harness.ts';
import { approvedCard, bankAccount, cardData, dayMs, payoutCard, tea } from './testing/samples.ts';

let harness: Harness;
/** Tokens used by mutations, so that they pass the first check. */
const tokens = { approved: '', authorized: '', recurring: '', dispute: '' };
beforeAll(async () => {
  harness = await startHarness();
  tokens.approved = await harness.createApproved({ recurring: true, amount: 1_000_000 });
  tokens.recurring = String((await harness.retrieve(tokens.approved)).recurringToken);
  await harness.advanceClock(dayMs);
  tokens.authorized = await harness.create({ needConfirmation: true });
  await harness.pay(tokens.authorized, { outcome: 'approved' });
  const opened = await harness.call('POST', '/sandbox/disputes', { token: tokens.approved, amount: 5 });
  tokens.dispute = (opened.body['dispute'] as { id: string }).id;
});
afterAll(() => harness.remove());

const payout = { amount: 5, currency: 'EUR', orderNumber: 'F-1' };
const posts: [name: string, path: () => string, body: () => object][] = [
  [
    'a hosted payment',
    () => '/api/v1/payments',
    () => ({ ...tea, orderNumber: 'F-1', locale: 'de', customer: { ip: '192.0.2.1' } }),
  ],
  ['a payment with a card', () => '/api/v1/payments', () => ({ ...tea, card: cardData(approvedCard) })],
  ['a repeat payment', () => '/api/v1/payments', () => ({ ...tea, recurringToken: tokens.recurring })],
  ['a confirmation', () => '/api/v1/payments/confirm', () => ({ token: tokens.authorized })],
  ['a void', () => '/api/v1/payments/decline', () => ({ token: tokens.authorized })],
  ['a refund', () => '/api/v1/refunds', () => ({ token: tokens.approved, amount: 1 })],
  ['a payout to an account', () => '/api/v1/payouts', () => ({ ...payout, destination: { bankAccount } })],
  [
    'a payout to a card',
    () => '/api/v1/payouts',
    () => ({ ...payout, destination: { card: { pan: payoutCard, expires: '12/2099' } } }),
  ],
  [
    'a payment on the page',
    () => `/sandbox/payments/${tokens.authorized}/pay`,
    () => ({ outcome: 'approved' }),
  ],
  [
    'a revision',
    () => `/sandbox/payments/${tokens.approved}/revise`,
    () => ({ status: 'declined', amount: 1 }),
  ],
  ['a dispute', () => '/sandbox/disputes', () => ({ token: tokens.approved, amount: 1, reasonCode: 'x' })],
  [
    'the end of a dispute',
    () => `/sandbox/disputes/${tokens.dispute}/resolve`,
    () => ({ status: 'declined' }),
  ],
  ['time', () => '/sandbox/clock', () => ({ advanceMs: 1 })],
  ['faults', () => '/sandbox/faults', () => [{ operation: 'create', fault: 'drop', times: 1 }]],
];
const gets: [path: string, parameters: Record<string, string>][] = [
  [
    '/api/v1/payments',
    { page: '1', perPage: '5', operationType: 'payouts', dateFrom: '2026-01-01', orderNumber: 'F-1' },
  ],
  ['/api/v1/balance', { currency: 'EUR' }],
  ['/api/v1/disputes/list', {}],
  ['/sandbox/ledger', { orderNumber: 'F-1' }],
];

const oddNumbers = [0, -1, -0, 1.5, 1e21, 2 ** 53, 2 ** 31, Number.MAX_SAFE_INTEGER, 5e-324];
const oddTexts = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u202e',
  'a'.repeat(300),
  '1',
  '1e3',
  '__proto__',
  'constructor',
  "' OR 1=1 --",
  'https://a@b/',
  '%00',
  '１２',
];
const oddArbitrary = fc.oneof(
  fc.constantFrom<unknown>(...oddNumbers, ...oddTexts, null, true, [], {}, [[]], undefined),
  fc.jsonValue({ maxDepth: 3 }),
);
const mutationArbitrary = fc.record({
  place: fc.nat(20),
  extraName: fc.option(
    fc.constantFrom('__proto__', 'constructor', 'toString', 'amount', 'token', ' amount', ''),
  ),
  value: oddArbitrary,
});

/** Puts the value at one of the places of a copy, at any depth, or adds it under its own name. */
function mutate(
  body: object,
  mutations: { place: number; extraName: string | null; value: unknown }[],
): unknown {
  const copy = structuredClone(body) as Record<string, unknown>;
  for (const { place, extraName, value } of mutations) {
    const places = placesIn(copy);
    const [holder, name] = places[place % places.length] ?? [copy, 'x'];
    Object.defineProperty(holder, extraName ?? name, {
      // A separate copy: inserted twice, the value would contain itself.
      value: structuredClone(value),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return copy;
}

const placesIn = (value: unknown): [object, string][] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, inner]) => [
        [value, name] as [object, string],
        ...placesIn(inner),
      ])
    : [];

/** Everything except the call log and the progress of callback delivery, which continues meanwhile. */
async function truth(): Promise<object> {
  const { calls: _calls, callbacks, ...rest } = await harness.ledger();
  return { ...rest, callbacks: callbacks.length };
}

/** Answered below 500; a refusal has the form of section 7 and changes nothing. */
async function expectHarmless(send: () => Promise<JsonAnswer>): Promise<void> {
  const before = await truth();
  const answer = await send();
  await harness.call('DELETE', '/sandbox/faults');
  expect(answer.statusCode, answer.text).toBeLessThan(500);
  expect(answer.body['success']).toBe(answer.statusCode === 200);
  if (answer.statusCode === 200) return;
  expect(errorsOf(answer).length).toBeGreaterThan(0);
  for (const error of errorsOf(answer))
    expect(error).toMatchObject({
      code: expect.any(String),
      kind: expect.any(String),
      parameter: expect.any(String),
    });
  expect(await truth()).toEqual(before);
}

describe('any posted body', () => {
  it.each(posts)('like %s is answered, and changes nothing if it is refused', async (_name, path, valid) => {
    const bodies = fc.oneof(
      fc.json({ maxDepth: 4 }),
      fc
        .array(mutationArbitrary, { minLength: 1, maxLength: 3 })
        .map((list) => JSON.stringify(mutate(valid(), list))),
    );
    await fc.assert(
      fc.asyncProperty(bodies, (body) => expectHarmless(() => harness.call('POST', path(), body))),
      { numRuns: propertyRuns(40) },
    );
  });

  it.each([
    ['deep lists', '['.repeat(30_000)],
    ['deep lists that end', `${'['.repeat(30_000)}${']'.repeat(30_000)}`],
    ['deep objects', `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`],
    [
      'thousands of names',
      JSON.stringify(Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`n${i}`, i]))),
    ],
    ['the same name twice', '{"token":"x","token":{"a":1}}'],
    ['half a character', '"\\ud800"'],
  ])('%s are answered', async (_name, body) => {
    for (const [, path] of posts) await expectHarmless(() => harness.call('POST', path(), body));
  });
});

describe('any query', () => {
  const queries = (valid: Record<string, string>) =>
    fc
      .array(
        fc.tuple(
          fc.oneof(fc.constantFrom('page', ...Object.keys(valid)), fc.string()),
          fc.oneof(fc.constantFrom(...oddTexts), fc.string({ unit: 'binary' })),
        ),
        { maxLength: 3 },
      )
      .map((changes) => new URLSearchParams([...Object.entries(valid), ...changes]).toString());

  it.each(gets)('of %s is answered', async (path, valid) => {
    await fc.assert(
      fc.asyncProperty(queries(valid), (query) =>
        expectHarmless(() => harness.call('GET', `${path}?${query}`)),
      ),
      { numRuns: propertyRuns(40) },
    );
  });

  it.each(['', '%', '%zz', '%E0%A4%A', '?', '?a[b]=1&a=2', `?${'a=1&'.repeat(2_000)}`, '?currency=%00'])(
    'with the address ending %j is answered',
    async (end) => {
      for (const [path] of gets) await expectHarmless(() => harness.call('GET', `${path}${end}`));
    },
  );

  it('by a token is answered', async () => {
    const property = fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1 }), (token) =>
      expectHarmless(() => harness.call('GET', `/api/v1/payments/${encodeURIComponent(token)}`)),
    );
    await fc.assert(property, { numRuns: propertyRuns(40) });
  });
});
