/** Violations of the specification, each with the tests that must find it. */
import { endpoints } from '../tests/authentication.ts';
import { fakeKey, fakeProductionKey, type Call, type FakeAnswer, type Lie } from './fake-service.ts';

export interface PlantedLie {
  /** What the service does wrong. */
  what: string;
  lie: () => Lie;
  /** The names of the tests that must fail. */
  foundBy: readonly string[];
}

type Body = Record<string, unknown>;

const jsonOf = (text: string): Body => {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return {};
  }
};

const isCreation = ({ method, path }: Call) => method === 'POST' && path === '/api/v1/payments';
const isRetrieval = ({ method, path }: Call) => method === 'GET' && path.startsWith('/api/v1/payments/');

/** Changes the body of answers to some calls. */
const answering =
  (isMeant: (call: Call, honest: FakeAnswer) => boolean, change: (body: Body, call: Call) => Body) =>
  (): Lie => ({
    answer: (honest, call) =>
      typeof honest.body === 'object' && isMeant(call, honest)
        ? { ...honest, body: change(honest.body, call) }
        : honest,
  });

const inErrors = (change: (error: Body) => Body) =>
  answering(
    (_call, { body }) => typeof body === 'object' && body['success'] === false,
    (body) => ({ ...body, errors: (body['errors'] as Body[]).map(change) }),
  );

/** Changes the body of calls before the service reads it. */
const hearing = (isMeant: (call: Call) => boolean, change: (body: Body) => Body) => (): Lie => ({
  call: (call) => (isMeant(call) ? { ...call, text: JSON.stringify(change(jsonOf(call.text))) } : call),
});

/** Takes calls of one path, says yes, and does nothing. */
const ignoring = (path: string) => (): Lie => ({
  call: (call) => (call.path === path ? { ...call, path: '/api/v1/ignored' } : call),
  answer: (honest, call) =>
    call.path === path
      ? { statusCode: 200, body: { success: true }, contentType: 'application/json' }
      : honest,
});

const withPayment = (honest: FakeAnswer, change: (payment: Body) => Body): FakeAnswer =>
  typeof honest.body === 'object' && honest.body['payment'] !== undefined
    ? { ...honest, body: { ...honest.body, payment: change(honest.body['payment'] as Body) } }
    : honest;

const withKey = (isMeant: (call: Call) => boolean) => (): Lie => ({
  call: (call) => (isMeant(call) ? { ...call, authorization: `Bearer ${fakeKey}` } : call),
});

const inCallbacks = (change: (body: Body) => Body) => (): Lie => ({
  callback: (honest) => ({ ...honest, body: change(honest.body) }),
});

const without = (name: string) => (body: Body) =>
  Object.fromEntries(Object.entries(body).filter(([field]) => field !== name));

const inPayment = (change: (payment: Body) => Body) => (): Lie => ({
  answer: (honest, call) => (isRetrieval(call) ? withPayment(honest, change) : honest),
});

const goodTerms = { product: 'Tea', amount: 1250, currency: 'EUR', callbackUrl: 'http://127.0.0.1:9/' };

const keyTest = (endpoint: string) =>
  `§5 every request carries the key: ${endpoint} is rejected without one, and with a wrong one`;

export const lies: readonly PlantedLie[] = [
  {
    what: 'answers a creation HTTP 201',
    lie: () => ({ answer: (honest, call) => (isCreation(call) ? { ...honest, statusCode: 201 } : honest) }),
    foundBy: [
      '§1 flow 1, 2: a payment created with the private key is answered HTTP 200 and a token',
      '§4 POST /api/v1/payments answers HTTP 200 with the payment token',
    ],
  },
  {
    what: 'answers amounts as texts',
    lie: inPayment((payment) => ({ ...payment, amount: String(payment['amount']) })),
    foundBy: ['§2 amounts are integers in minor units: the retrieved amount is the integer given'],
  },
  {
    what: 'answers amounts in major units',
    lie: inPayment((payment) => ({ ...payment, amount: Number(payment['amount']) / 100 })),
    foundBy: ['§2 amounts are integers in minor units: the retrieved amount is the integer given'],
  },
  {
    what: 'takes an amount that is a text or a fraction',
    lie: hearing(isCreation, (body) => ({ ...body, amount: Math.round(Number(body['amount'])) })),
    foundBy: ['§2 amount is an integer: anything else is refused'],
  },
  {
    what: 'takes any callbackUrl',
    lie: hearing(isCreation, (body) => ({ ...body, callbackUrl: 'http://127.0.0.1:9/' })),
    foundBy: [
      '§2 callbackUrl is a URL: anything else is refused',
      '§2 callbackUrl: it receives status notifications by POST, at its own path and query',
    ],
  },
  {
    what: 'gives a token that is a number',
    lie: answering(isCreation, (body) => ('token' in body ? { ...body, token: 7 } : body)),
    foundBy: ['§2 each payment is identified by a token: a string, another for each'],
  },
  {
    what: 'answers JSON that is marked as text',
    lie: () => ({ answer: (honest) => ({ ...honest, contentType: 'text/plain' }) }),
    foundBy: ['§2 response bodies are JSON, of calls that succeed and of calls that fail'],
  },
  {
    what: 'takes forms',
    lie: () => ({
      call: (call) => {
        if (!isCreation(call) || !call.contentType.includes('urlencoded')) return call;
        const { amount, ...fields } = Object.fromEntries(new URLSearchParams(call.text));
        const text = JSON.stringify({ ...fields, amount: Number(amount) });
        return { ...call, text, contentType: 'application/json' };
      },
    }),
    foundBy: ['§2 request bodies are JSON: a form is refused'],
  },
  {
    what: 'takes half a body',
    lie: () => ({
      call: (call) =>
        isCreation(call) && jsonOf(call.text)['product'] === undefined
          ? { ...call, text: JSON.stringify(goodTerms) }
          : call,
    }),
    foundBy: [
      '§2 request bodies are JSON: what is none is refused',
      '§7 a missing parameter gives kind invalid_request_error',
    ],
  },
  {
    what: 'knows no locale',
    lie: hearing(
      (call) => isCreation(call) && 'locale' in jsonOf(call.text),
      () => ({}),
    ),
    foundBy: ['§2 a payment is created with all fields of the table'],
  },
  {
    what: 'gives a token with a refusal',
    lie: answering(isCreation, (body) => ({ ...body, token: 'refused' })),
    foundBy: ['§1 flow 2: the service validates the request, and gives no token for an invalid one'],
  },
  {
    what: 'does not charge recurring tokens',
    lie: inPayment((payment) =>
      String(payment['recurringToken']).startsWith('recurring-') && !('recurring' in payment)
        ? { ...payment, status: 'pending' }
        : payment,
    ),
    foundBy: [
      '§1 recurring payments: a later one is charged using the recurring token, without the customer',
    ],
  },
  {
    what: 'keeps paid payments pending',
    lie: inPayment((payment) =>
      payment['status'] === 'approved' ? { ...payment, status: 'pending' } : payment,
    ),
    foundBy: [
      '§1 flow 3, 4: a payment that the customer pays reaches the final status approved',
      '§3 init and pending are not final: a payment leaves both',
    ],
  },
  {
    what: 'lists payments in a state of its own',
    lie: answering(
      ({ method, path }) => method === 'GET' && path === '/api/v1/payments',
      (body) => ({ ...body, payments: [{ token: 'x', status: 'unresolved' }] }),
    ),
    foundBy: ['§3 a payment has one of the six states, each one in the list'],
  },
  {
    what: 'retrieves a payment for every token',
    lie: () => ({
      answer: (honest, call) =>
        isRetrieval(call) && honest.statusCode === 404
          ? { ...honest, statusCode: 200, body: { success: true, payment: { token: 'x', status: 'init' } } }
          : honest,
    }),
    foundBy: ['§4 GET /api/v1/payments/{token} fails for a token that does not exist'],
  },
  {
    what: 'answers disputes without a list',
    lie: answering(({ path }) => path === '/api/v1/disputes/list', without('disputes')),
    foundBy: ['§4 GET /api/v1/disputes/list reads a list of dispute records'],
  },
  {
    what: 'has a page in one language only',
    lie: hearing(isCreation, (body) => (body['locale'] === 'de' ? { ...body, locale: 'en' } : body)),
    foundBy: ['§2 locale: it is the language of the payment page'],
  },
  {
    what: 'calls approved payments completed',
    lie: inPayment((payment) =>
      payment['status'] === 'approved' ? { ...payment, status: 'completed' } : payment,
    ),
    foundBy: ['§3 approved: the payment completed successfully'],
  },
  {
    what: 'lets a customer leave a final state',
    lie: () => {
      const left = new Set<string>();
      return {
        answer: (honest, call) => {
          const paid = /^\/sandbox\/payments\/([^/]+)\/pay$/.exec(call.path)?.[1];
          if (paid !== undefined && honest.statusCode === 409) left.add(paid);
          const hasLeft = isRetrieval(call) && left.has(call.path.split('/')[4] ?? '');
          return hasLeft ? withPayment(honest, (payment) => ({ ...payment, status: 'pending' })) : honest;
        },
      };
    },
    foundBy: ['approved', 'declined', 'refunded', 'expired'].map(
      (status) => `§3 ${status} is final: it stays, whatever the customer does`,
    ),
  },
  {
    what: 'lets approved payments expire',
    lie: () => {
      let isLater = false;
      return {
        answer: (honest, call) => {
          isLater ||= call.path === '/sandbox/clock';
          return isLater && isRetrieval(call)
            ? withPayment(honest, (payment) => ({ ...payment, status: 'expired' }))
            : honest;
        },
      };
    },
    foundBy: ['§3 final states stay when time passes'],
  },
  {
    what: 'calls a new payment pending',
    lie: inPayment((payment) => (payment['status'] === 'init' ? { ...payment, status: 'pending' } : payment)),
    foundBy: ['§3 init: the payment has been created'],
  },
  {
    what: 'calls a payment init until it is final',
    lie: inPayment((payment) => (payment['status'] === 'pending' ? { ...payment, status: 'init' } : payment)),
    foundBy: [
      '§3 pending: the customer is completing payment',
      '§1 flow 3: customer authentication runs where the card requires it',
    ],
  },
  {
    what: 'calls declined payments approved',
    lie: inPayment((payment) =>
      payment['status'] === 'declined' ? { ...payment, status: 'approved' } : payment,
    ),
    foundBy: [
      '§1 flow 4: a payment that the customer fails to pay reaches the final status declined',
      '§3 declined: the payment did not complete',
    ],
  },
  {
    what: 'takes a confirmation and does nothing',
    lie: ignoring('/api/v1/payments/confirm'),
    foundBy: [
      '§4 POST /api/v1/payments/confirm confirms a two-step payment, which becomes approved',
      '§4 POST /api/v1/payments/confirm fails for a token that does not exist',
      '§6 the outcome of a two-step payment is posted',
    ],
  },
  {
    what: 'takes a decline and does nothing',
    lie: ignoring('/api/v1/payments/decline'),
    foundBy: [
      '§4 POST /api/v1/payments/decline declines a two-step payment, which becomes declined',
      '§4 POST /api/v1/payments/decline fails for a token that does not exist',
    ],
  },
  {
    what: 'takes a refund and does nothing',
    lie: ignoring('/api/v1/refunds'),
    foundBy: [
      '§2 each refund is identified by a token: a string',
      '§3 refunded: the payment was refunded',
      '§4 POST /api/v1/refunds refunds a payment in full when no amount is passed',
      '§4 POST /api/v1/refunds: the amount is an integer, anything else is refused',
      '§4 POST /api/v1/refunds fails for a payment that does not exist',
      '§7 an operation that could not be processed gives kind processing_error',
    ],
  },
  {
    what: 'takes a payout and does nothing',
    lie: ignoring('/api/v1/payouts'),
    foundBy: [
      '§2 each payout is identified by a token: a string',
      '§4 POST /api/v1/payouts: the amount is an integer, anything else is refused',
    ],
  },
  {
    what: 'has payouts for production only',
    lie: () => ({
      call: (call) => (call.path === '/api/v1/payouts' ? { ...call, path: '/api/v1/nothing' } : call),
    }),
    foundBy: ['§4 POST /api/v1/payouts starts a payout'],
  },
  {
    what: 'answers the balance as texts',
    lie: answering(
      ({ path }) => path === '/api/v1/balance',
      (body) => ({ ...body, wallet: { available: '0', hold: '0' } }),
    ),
    foundBy: ['§4 GET /api/v1/balance reads the available and the held amount for a currency, both integers'],
  },
  {
    what: 'takes fields of any type',
    lie: hearing(isCreation, (body) => ({
      ...{ product: 'Tea', currency: 'EUR', callbackUrl: 'http://127.0.0.1:9/' },
      amount: Number(body['amount']) > 0 ? Math.ceil(Number(body['amount'])) : 1,
    })),
    foundBy: [
      ...[
        'product is a string',
        'amount is an integer',
        'currency is an alphabetic code',
        'orderNumber is a string',
      ],
      ...[
        'callbackUrl is a URL',
        'redirectSuccessUrl is a URL',
        'redirectFailUrl is a URL',
        'locale is a string',
      ],
    ].map((rule) => `§2 ${rule}: anything else is refused`),
  },
  {
    what: 'has a page that shows nothing and sends the customer nowhere',
    lie: () => ({
      answer: (honest) =>
        typeof honest.body === 'string'
          ? { statusCode: 200, body: '<p>Pay</p>', contentType: honest.contentType }
          : honest,
    }),
    foundBy: [
      '§1 hosted checkout: the customer is led to a payment page run by the service, where card details are entered',
      '§2 product: the payment page describes what is paid for',
      '§2 redirectSuccessUrl: the customer is sent there after success',
      '§2 redirectFailUrl: the customer is sent there after failure',
      '§2 locale: it is the language of the payment page',
    ],
  },
  {
    what: 'gives no recurring token',
    lie: inPayment(without('recurringToken')),
    foundBy: ['§1 recurring payments: a first payment with the customer present gives a recurring token'],
  },
  {
    what: 'does not charge cards and recurring tokens',
    lie: inPayment((payment) =>
      'card' in payment || 'recurringToken' in payment ? { ...payment, status: 'init' } : payment,
    ),
    foundBy: [
      '§1 server-to-server: the merchant creates a payment with card data, and it becomes approved without the page',
    ],
  },
  {
    what: 'blames the merchant for its own faults',
    lie: inErrors((error) =>
      error['kind'] === 'api_error' ? { ...error, kind: 'processing_error' } : error,
    ),
    foundBy: ["§7 a problem on the service's side gives kind api_error"],
  },
  {
    what: 'never lets a payment expire',
    lie: hearing(
      ({ path }) => path === '/sandbox/clock',
      () => ({ advanceMs: 0 }),
    ),
    foundBy: ['§3 expired: the payment was abandoned', '§6 the status change to expired is posted'],
  },
  {
    what: 'retrieves some other payment',
    lie: () => {
      let first: string | undefined;
      return {
        call: (call) => {
          if (!isRetrieval(call)) return call;
          first ??= call.path;
          return { ...call, path: first };
        },
      };
    },
    foundBy: ['§4 GET /api/v1/payments/{token} retrieves that payment'],
  },
  {
    what: 'lists no payments',
    lie: answering(
      ({ method, path }) => method === 'GET' && path === '/api/v1/payments',
      (body) => ('payments' in body ? { ...body, payments: [] } : body),
    ),
    foundBy: ['§4 GET /api/v1/payments lists payments, a new one among them'],
  },
  {
    what: 'refunds in full whatever the amount',
    lie: hearing(({ path }) => path === '/api/v1/refunds', without('amount')),
    foundBy: ['§4 POST /api/v1/refunds refunds partially when an amount is passed'],
  },
  {
    what: 'has one balance for all currencies',
    lie: () => ({
      call: (call) =>
        call.path === '/api/v1/balance' ? { ...call, query: new URLSearchParams('currency=EUR') } : call,
    }),
    foundBy: ['§4 GET /api/v1/balance is kept for each currency separately'],
  },
  {
    what: 'never lists a new dispute',
    lie: answering(
      ({ path }) => path === '/api/v1/disputes/list',
      (body) => ({ ...body, disputes: [] }),
    ),
    foundBy: ['§4 GET /api/v1/disputes/list holds the most recent records of the account'],
  },
  {
    what: 'takes any key',
    lie: withKey(({ authorization }) => authorization.startsWith('Bearer ')),
    foundBy: [
      ...endpoints.map((endpoint) => keyTest(endpoint.join(' '))),
      '§5 a key of one environment is for that environment',
      '§5 a rejected creation creates nothing',
      '§7 a request without a valid key gives kind authentication_error',
    ],
  },
  {
    what: 'needs no key for one endpoint',
    lie: withKey(({ path }) => path === '/api/v1/disputes/list'),
    foundBy: [keyTest('GET /api/v1/disputes/list')],
  },
  {
    what: 'takes the key in the query',
    lie: withKey(({ query }) => query.get('key') === fakeKey),
    foundBy: ['§5 the key counts only as a bearer token in the Authorization header'],
  },
  {
    what: 'takes a production key in the sandbox',
    lie: withKey(({ authorization }) => authorization === `Bearer ${fakeProductionKey}`),
    foundBy: [
      '§1 sandbox and production are separate: a key of the other environment is rejected',
      '§5 a key of one environment is for that environment',
    ],
  },
  {
    what: 'serves plain HTTP',
    lie: () => ({ servesPlainHttp: true }),
    foundBy: [
      ...endpoints.map(
        (endpoint) => `§5 ${endpoint.join(' ')} over plain HTTP is rejected, with the right key too`,
      ),
      '§5 plain HTTP: HTTP 403, https_required',
      '§7 a request over plain HTTP gives kind authentication_error',
    ],
  },
  {
    what: 'shows the key on the payment page',
    lie: () => ({
      answer: (honest) =>
        typeof honest.body === 'string' ? { ...honest, body: `${honest.body}<!-- ${fakeKey} -->` } : honest,
    }),
    foundBy: [
      "§5 private keys belong on the merchant's server: the payment page does not hold it, nor does an answer",
    ],
  },
  {
    what: 'leaves orderNumber out of callbacks',
    lie: inCallbacks(without('orderNumber')),
    foundBy: ["§6 each callback carries the merchant's orderNumber, its own"],
  },
  {
    what: 'leaves the status out of callbacks',
    lie: inCallbacks(without('status')),
    foundBy: ['§6 each callback carries a status, one of the six'],
  },
  {
    what: 'puts the callback',
    lie: () => ({ callback: (honest) => ({ ...honest, method: 'PUT' }) }),
    foundBy: [
      '§1 flow 5: the service posts the final status to the callback address',
      '§6 a callback is an HTTP POST to the callbackUrl given at creation',
    ],
  },
  {
    what: 'marks callbacks as text',
    lie: () => ({ callback: (honest) => ({ ...honest, contentType: 'text/plain' }) }),
    foundBy: ['§6 the body of a callback is JSON (section 2)'],
  },
  {
    what: 'calls back only for approvals',
    lie: () => ({
      callback: (honest) => (honest.body['status'] === 'approved' ? honest : undefined),
    }),
    foundBy: [
      '§6 the final status declined is posted',
      '§6 each status change is posted: pending while the customer pays, then the outcome',
    ],
  },
  {
    what: 'calls back only while nothing is decided',
    lie: () => ({
      callback: (honest) => (honest.body['status'] === 'pending' ? honest : undefined),
    }),
    foundBy: ['§6 the final status approved is posted', '§6 the status change to refunded is posted'],
  },
  {
    what: 'has a wrong kind for wrong parameters',
    lie: inErrors((error) =>
      error['kind'] === 'invalid_request_error' ? { ...error, kind: 'processing_error' } : error,
    ),
    foundBy: [
      '§7 a missing parameter gives kind invalid_request_error',
      '§7 an invalid parameter gives kind invalid_request_error',
    ],
  },
  {
    what: 'has a kind that is none of the four',
    lie: inErrors((error) => ({ ...error, kind: 'settings_error' })),
    foundBy: ['§7 each error has a code and a kind, one of the four'],
  },
  {
    what: 'leaves the code out of errors',
    lie: inErrors(without('code')),
    foundBy: ['§7 each error has a code and a kind, one of the four'],
  },
  {
    what: 'answers one error instead of a list',
    lie: answering(
      (_call, { body }) => typeof body === 'object' && body['success'] === false,
      (body) => ({ ...body, errors: (body['errors'] as unknown[])[0] }),
    ),
    foundBy: ['§7 a failed call returns success false and a list of errors'],
  },
  {
    what: 'leaves success false out',
    lie: answering(
      (_call, { body }) => typeof body === 'object' && body['success'] === false,
      without('success'),
    ),
    foundBy: ['§7 a failed call returns success false and a list of errors'],
  },
  {
    what: 'answers without the version in the path',
    lie: () => ({
      call: (call) => (call.path === '/payments' ? { ...call, path: '/api/v1/payments' } : call),
    }),
    foundBy: ['§9 the version is the path segment /api/v1: elsewhere is no endpoint'],
  },
];

/** A service that says yes to everything and does nothing. */
export const yesSayer: Lie = {
  answer: () => ({ statusCode: 200, body: { success: true }, contentType: 'application/json' }),
  callback: () => undefined,
};

/** A service that refuses everything, in good form. */
export const noSayer: Lie = {
  answer: () => ({
    statusCode: 409,
    body: { success: false, errors: [{ code: 'no', kind: 'processing_error' }] },
    contentType: 'application/json',
  }),
};
