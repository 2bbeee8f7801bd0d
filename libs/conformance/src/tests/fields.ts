/** Section 2: resources and their fields. */
import {
  describe,
  expectFailure,
  expectFailureOf,
  expectField,
  expectJson,
  expectSuccess,
  findField,
  isObject,
  textField,
  type Json,
} from '../answers.ts';
import {
  check,
  section,
  type ConformanceTest,
  pageAddress,
  payoutBody,
  refundNamesPayment,
} from '../conformance-test.ts';
import type { Payment, Peer } from '../peer.ts';
import { approvedPan } from './flow.ts';
import { startPayout } from './money.ts';

const { specified, decided } = section(2);

const otherFields = {
  redirectSuccessUrl: 'https://shop.example/thanks?a=b',
  redirectFailUrl: 'https://shop.example/sorry?a=b',
  locale: 'de',
};

const createWith = (peer: Peer, fields: Json) =>
  peer.call('POST', '/api/v1/payments', { body: peer.terms(fields) });

/** A creation without one field. */
const createWithout = (peer: Peer, name: string) => {
  const body = Object.fromEntries(
    Object.entries(peer.terms(otherFields)).filter(([field]) => field !== name),
  );
  return peer.call('POST', '/api/v1/payments', { body });
};

const wrongTypes: readonly { field: string; type: string; wrong: readonly unknown[] }[] = [
  { field: 'product', type: 'a string', wrong: [7, true, ['Tea'], { name: 'Tea' }] },
  { field: 'amount', type: 'an integer', wrong: [12.5, '1250', true, [1250], {}] },
  { field: 'currency', type: 'an alphabetic code', wrong: [978, '978', 'E1R', true, ['EUR']] },
  { field: 'orderNumber', type: 'a string', wrong: [7, true, ['order'], {}] },
  { field: 'callbackUrl', type: 'a URL', wrong: ['nowhere', 7, ['https://shop.example/']] },
  { field: 'redirectSuccessUrl', type: 'a URL', wrong: ['nowhere', 7, true] },
  { field: 'redirectFailUrl', type: 'a URL', wrong: ['nowhere', 7, true] },
  { field: 'locale', type: 'a string', wrong: [7, true, ['de'], {}] },
];

const typeTests = wrongTypes.map(({ field, type, wrong }) =>
  specified(`${field} is ${type}: anything else is refused`, async (peer) => {
    for (const value of wrong)
      expectFailureOf('invalid_request_error', await createWith(peer, { [field]: value }));
  }),
);

const roundTripTests = [
  ...['product', 'amount', 'currency', 'orderNumber', 'callbackUrl'],
  ...['redirectSuccessUrl', 'redirectFailUrl', 'locale'],
].map((field) =>
  decided(`${field} comes back as it was given when the payment is retrieved`, async (peer) => {
    const { token, terms } = await peer.create(otherFields);
    expectField(await peer.retrieve(token), field, terms[field]);
  }),
);

const requiredTests = ['product', 'amount', 'currency', 'callbackUrl'].map((field) =>
  decided(`${field} is required`, async (peer) => {
    expectFailureOf('invalid_request_error', await createWithout(peer, field));
  }),
);

const optionalTests = ['orderNumber', 'redirectSuccessUrl', 'redirectFailUrl', 'locale'].map((field) =>
  decided(`${field} is optional`, async (peer) => {
    expectSuccess(await createWithout(peer, field));
  }),
);

/** Fills in the page's card form by what its inputs say they are for, and gives where the customer is sent. */
async function payOnPage(peer: Peer, { answer }: Payment, pan: string): Promise<string | undefined> {
  const url = textField(answer, 'processingUrl');
  const page = await peer.browse(url);
  const values = new Map([
    ['cc-number', pan],
    ['cc-exp', '12/2039'],
    ['cc-csc', '123'],
    ['cc-name', 'Ada Lovelace'],
  ]);
  const inputs = [...page.text.matchAll(/<input\b[^>]*>/gi)].map(([input]) => input);
  const attribute = (tag: string, name: string) => new RegExp(`\\b${name}="([^"]*)"`, 'i').exec(tag)?.[1];
  const form = inputs.map((input) => [
    attribute(input, 'name') ?? '',
    values.get(attribute(input, 'autocomplete') ?? '') ?? attribute(input, 'value') ?? '',
  ]);
  const formTag = /<form\b[^>]*>/i.exec(page.text)?.[0] ?? '';
  const target = new URL(attribute(formTag, 'action') ?? '', url).href;
  return (await peer.browse(target, Object.fromEntries(form) as Record<string, string>)).location;
}

const redirectTest = (
  field: 'redirectSuccessUrl' | 'redirectFailUrl',
  after: string,
  pan: string,
): ConformanceTest =>
  specified(
    `${field}: the customer is sent there after ${after}`,
    `${pageAddress}; its inputs have the autocomplete values of card forms; card ${pan}`,
    async (peer) => {
      const location = await payOnPage(peer, await peer.create(otherFields), pan);
      check(
        location === otherFields[field],
        `The customer should be sent to ${otherFields[field]}, not to ${location ?? 'nowhere'}.`,
      );
    },
  );

const declinedPan = '4730198364688516';

export const fieldTests: ConformanceTest[] = [
  specified('request bodies are JSON: what is none is refused', async (peer) => {
    expectFailure(await peer.call('POST', '/api/v1/payments', { rawBody: '{"product": "Tea"' }));
  }),
  specified('request bodies are JSON: a form is refused', async (peer) => {
    const rawBody = new URLSearchParams(
      Object.entries(peer.terms()).map(([name, value]): [string, string] => [name, String(value)]),
    ).toString();
    const contentType = 'application/x-www-form-urlencoded';
    expectFailure(await peer.call('POST', '/api/v1/payments', { rawBody, contentType }));
  }),
  specified('response bodies are JSON, of calls that succeed and of calls that fail', async (peer) => {
    const { token, answer } = await peer.create();
    const others = [
      await peer.retrieve(token),
      await peer.call('GET', '/api/v1/payments'),
      await peer.call('GET', `/api/v1/payments/${peer.newName()}`),
      await peer.call('POST', '/api/v1/payments', { rawBody: '{' }),
      await peer.call('GET', '/api/v1/payments', { authorization: null }),
    ];
    for (const each of [answer, ...others]) {
      expectJson(each);
      check(isObject(each.body), `The body should be a JSON object; ${describe(each)}`);
    }
  }),
  specified(
    'amounts are integers in minor units: the retrieved amount is the integer given',
    async (peer) => {
      for (const amount of [1, 1250, 99_999]) {
        const { token } = await peer.create({ amount });
        expectField(await peer.retrieve(token), 'amount', amount);
      }
    },
  ),
  specified('each payment is identified by a token: a string, another for each', async (peer) => {
    const tokens = [await peer.create(), await peer.create(), await peer.create()].map(({ token }) => token);
    check(new Set(tokens).size === 3, `Three payments should have three tokens, not ${tokens.join(', ')}.`);
  }),
  specified('each refund is identified by a token: a string', refundNamesPayment, async (peer) => {
    const answer = await peer.refund(await peer.createSettled('approved'));
    expectSuccess(answer);
    const refund = findField(answer.body, 'refund');
    const token = isObject(refund) ? refund['token'] : textField(answer, 'token');
    check(typeof token === 'string' && token !== '', `The refund should have a token; ${describe(answer)}`);
  }),
  specified('each payout is identified by a token: a string', payoutBody, async (peer) => {
    const answer = await startPayout(peer);
    expectSuccess(answer);
    textField(answer, 'token');
  }),
  specified('a payment is created with all fields of the table', async (peer) => {
    expectSuccess(await createWith(peer, otherFields));
  }),
  ...typeTests,
  specified('product: the payment page describes what is paid for', pageAddress, async (peer) => {
    const product = `Tea ${peer.newName()}`;
    const page = await peer.browse(textField((await peer.create({ product })).answer, 'processingUrl'));
    check(page.text.includes(product), `The page should show the product "${product}".`);
  }),
  redirectTest('redirectSuccessUrl', 'success', approvedPan),
  redirectTest('redirectFailUrl', 'failure', declinedPan),
  specified('locale: it is the language of the payment page', pageAddress, async (peer) => {
    for (const locale of ['de', 'en']) {
      const page = await peer.browse(textField((await peer.create({ locale })).answer, 'processingUrl'));
      const language = /<html[^>]*\blang="?([\w-]+)/i.exec(page.text)?.[1];
      check(language === locale, `The page should be in ${locale}, not in ${language ?? 'no language'}.`);
    }
  }),
  ...requiredTests,
  ...optionalTests,
  ...roundTripTests,
  decided('an unknown field is refused', async (peer) => {
    expectFailureOf('invalid_request_error', await createWith(peer, { color: 'green' }));
  }),
  decided('amount is at least 1', async (peer) => {
    for (const amount of [0, -1])
      expectFailureOf('invalid_request_error', await createWith(peer, { amount }));
  }),
  decided('creation answers success, token and payment {amount, currency, status}', async (peer) => {
    const { answer, token } = await peer.create();
    const { body } = answer;
    const payment = isObject(body) ? body['payment'] : undefined;
    check(
      isObject(body) && body['success'] === true && body['token'] === token && isObject(payment),
      `The answer should have success, token and payment; ${describe(answer)}`,
    );
    for (const field of ['amount', 'currency', 'status'])
      check(payment[field] !== undefined, `payment should have ${field}; ${describe(answer)}`);
  }),
];
