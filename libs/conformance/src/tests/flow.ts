/** Section 1: what the service does. */
import { describe, expectFailure, findField, statusIn, textField } from '../answers.ts';
import { check, section, cardFields, pageAddress } from '../conformance-test.ts';
import type { Peer } from '../peer.ts';

const { specified, decided } = section(1);

export const approvedPan = '4392963203551251';
const authenticatedPan = '4617611794313933';

const cardOf = (pan: string) => ({ pan, expires: '12/2039', holder: 'Ada Lovelace', cvv: '123' });

/** The first payment of a series, and the token with which later ones are charged. */
async function createRecurring(peer: Peer): Promise<string> {
  const first = await peer.createSettled('approved', { recurring: true });
  return textField(await peer.retrieve(first.token), 'recurringToken');
}

/** Creates a payment that needs no page and gives its status, which may be final at once. */
async function createWithoutPage(peer: Peer, fields: Record<string, unknown>): Promise<void> {
  const payment = await peer.create(fields);
  await peer.untilStatus(payment, 'approved');
}

export const flowTests = [
  specified(
    'flow 2: the service validates the request, and gives no token for an invalid one',
    async (peer) => {
      const answer = await peer.call('POST', '/api/v1/payments', { body: peer.terms({ amount: 'much' }) });
      expectFailure(answer);
      check(findField(answer.body, 'token') === undefined, `There should be no token; ${describe(answer)}`);
    },
  ),
  specified(
    'hosted checkout: the customer is led to a payment page run by the service, where card details are entered',
    pageAddress,
    async (peer) => {
      const { answer } = await peer.create();
      const url = textField(answer, 'processingUrl');
      check(URL.canParse(url), `processingUrl should be a URL; ${describe(answer)}`);
      const page = await peer.browse(url);
      check(page.statusCode === 200, `The page should be shown; ${describe(page)}`);
      check(/^text\/html\b/.test(page.contentType), `It should be a web page; ${describe(page)}`);
      check(/<form\b/i.test(page.text), `It should have a form for the card; ${describe(page)}`);
    },
  ),
  specified(
    'server-to-server: the merchant creates a payment with card data, and it becomes approved without the page',
    cardFields,
    async (peer) => createWithoutPage(peer, { card: cardOf(approvedPan) }),
  ),
  specified(
    'flow 3: customer authentication runs where the card requires it',
    `${cardFields}; card ${authenticatedPan} requires authentication`,
    async (peer) => {
      const payment = await peer.create({ card: cardOf(authenticatedPan) });
      const status = statusIn(await peer.retrieve(payment.token));
      check(status === 'pending', `The payment should wait for the customer as pending, not ${status}.`);
      const page = await peer.browse(textField(payment.answer, 'processingUrl'));
      check(page.statusCode < 400, `The authentication page should be shown; ${describe(page)}`);
    },
  ),
  specified(
    'recurring payments: a first payment with the customer present gives a recurring token',
    'it is asked for with recurring: true, and is in the field recurringToken',
    async (peer) => createRecurring(peer),
  ),
  specified(
    'recurring payments: a later one is charged using the recurring token, without the customer',
    'a repeat payment is created with the field recurringToken',
    async (peer) => createWithoutPage(peer, { recurringToken: await createRecurring(peer) }),
  ),
  decided('recurring payments: an unknown recurring token is refused', async (peer) => {
    const body = peer.terms({ recurringToken: peer.newName() });
    const errors = expectFailure(await peer.call('POST', '/api/v1/payments', { body }));
    check(
      errors.some(({ code }) => code === 'recurring_token_not_found'),
      'The code should be recurring_token_not_found.',
    );
  }),
];
