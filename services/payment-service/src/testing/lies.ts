/**
 * Subtle violations of the specification, each with parts of the names of the tests that must detect it. The crude
 * violations, services that accept or refuse every call, are below.
 */
import type { Answer, Body, Call, Lie } from './lying-service.ts';

interface Keys {
  right: string;
  ofProduction: string;
}

type PlantedLie = readonly [what: string, lie: (keys: Keys) => Lie, ...foundBy: string[]];

const parse = (text: string): Body => {
  try {
    return JSON.parse(text) as Body;
  } catch {
    return {};
  }
};

const at = (method: string, path: string) => (call: Call) =>
  call.method === method && call.path.split('?')[0] === path;
const to = (path: string) => (call: Call) => call.path.split('?')[0] === path;
const isCreation = at('POST', '/api/v1/payments');
const isRetrieval = ({ method, path }: Call) => method === 'GET' && path.startsWith('/api/v1/payments/');
const tokenOf = (answer: Answer) => String(parse(answer.text)['token']);

const withBody = (answer: Answer, change: (body: Body) => Body): Answer =>
  answer.contentType.startsWith('application/json')
    ? { ...answer, text: JSON.stringify(change(parse(answer.text))) }
    : answer;

const answering = (isMeant: (call: Call) => boolean, change: (body: Body) => Body) => (): Lie => ({
  answer: (honest, call) => (isMeant(call) ? withBody(honest, change) : honest),
});

const hearing = (isMeant: (call: Call) => boolean, change: (body: Body) => Body) => (): Lie => ({
  call: (call) => (isMeant(call) ? { ...call, text: JSON.stringify(change(parse(call.text))) } : call),
});

const without = (name: string) => (body: Body) =>
  Object.fromEntries(Object.entries(body).filter(([field]) => field !== name));

const changePayment = (change: (payment: Body) => Body) => (body: Body) =>
  body['payment'] === undefined ? body : { ...body, payment: change(body['payment'] as Body) };

const inPayment = (change: (payment: Body) => Body) => answering(isRetrieval, changePayment(change));

const renaming = (status: string, shown: string) =>
  inPayment((payment) => (payment['status'] === status ? { ...payment, status: shown } : payment));

const inErrors = (change: (error: Body) => Body) =>
  answering(
    () => true,
    (body) =>
      body['success'] === false ? { ...body, errors: (body['errors'] as Body[]).map(change) } : body,
  );

const confusing = (kind: string, shown: string) =>
  inErrors((error) => (error['kind'] === kind ? { ...error, kind: shown } : error));

const inCallbacks = (change: (body: Body) => Body) => (): Lie => ({
  callback: (honest) => ({ ...honest, body: change(honest.body) }),
});

const saying = (body: Body, statusCode = 200): Answer => ({
  statusCode,
  contentType: 'application/json',
  location: undefined,
  text: JSON.stringify(body),
});

const unlocking =
  (isMeant: (call: Call, keys: Keys) => boolean) =>
  (keys: Keys): Lie => ({
    call: (call) => (isMeant(call, keys) ? { ...call, authorization: `Bearer ${keys.right}` } : call),
  });

const goodTerms = { product: 'Tea', amount: 1250, currency: 'EUR', callbackUrl: 'http://127.0.0.1:9/' };

/** Payments created in one way, or no longer in a final status, by token. */
function following(isMeant: (call: Call, answer: Answer) => string | undefined, status: string): Lie {
  const meant = new Set<string>();
  return {
    answer: (honest, call) => {
      const token = isMeant(call, honest);
      if (token !== undefined) meant.add(token);
      const isOne = isRetrieval(call) && meant.has(call.path.split('/')[4] ?? '');
      return isOne
        ? withBody(
            honest,
            changePayment((payment) => ({ ...payment, status })),
          )
        : honest;
    },
  };
}

const answersAndTerms: readonly PlantedLie[] = [
  [
    'answers amounts in major units',
    inPayment((payment) => ({ ...payment, amount: Number(payment['amount']) / 100 })),
    '§2 amounts are integers',
  ],
  [
    'takes any callbackUrl',
    hearing(isCreation, (body) => ({ ...body, callbackUrl: 'http://127.0.0.1:9/' })),
    '§2 callbackUrl is a URL',
  ],
  [
    'takes forms',
    () => ({
      call: (call) => {
        if (!isCreation(call) || call.contentType?.includes('urlencoded') !== true) return call;
        const { amount, ...fields } = Object.fromEntries(new URLSearchParams(call.text));
        const text = JSON.stringify({ ...fields, amount: Number(amount) });
        return { ...call, text, contentType: 'application/json' };
      },
    }),
    '§2 request bodies are JSON: a form',
  ],
  [
    'takes fields of any type',
    hearing(isCreation, (body) => ({
      ...goodTerms,
      amount: Number(body['amount']) > 0 ? Math.ceil(Number(body['amount'])) : 1,
    })),
    ': anything else is refused',
  ],
  [
    'has a page that shows nothing and leads nowhere',
    () => ({
      answer: (honest) =>
        honest.contentType.startsWith('text/html') || honest.location !== undefined
          ? { ...honest, statusCode: 200, location: undefined, text: '<p>Pay</p>' }
          : honest,
    }),
    '§1 hosted checkout',
    '§2 product: the payment page',
    '§2 redirectSuccessUrl: the customer',
    '§2 redirectFailUrl: the customer',
    '§2 locale: it is',
  ],
  [
    'shows the key on the payment page',
    ({ right }) => ({
      answer: (honest) =>
        honest.contentType.startsWith('text/html') ? { ...honest, text: honest.text + right } : honest,
    }),
    '§5 private keys belong',
  ],
];

const statesAndFlow: readonly PlantedLie[] = [
  [
    'calls a payment init until it is final',
    renaming('pending', 'init'),
    '§3 pending: the customer',
    '§1 flow 3: customer authentication',
  ],
  [
    'lets a customer leave a final state',
    () =>
      following((call, { statusCode }) => {
        const paid = /^\/sandbox\/payments\/([^/]+)\/pay$/.exec(call.path)?.[1];
        return statusCode === 409 ? paid : undefined;
      }, 'pending'),
    'is final: it stays',
  ],
  [
    'lets approved payments expire',
    () => {
      let isLater = false;
      const expired = changePayment((payment) => ({ ...payment, status: 'expired' }));
      return {
        answer: (honest, call) => {
          isLater ||= to('/sandbox/clock')(call);
          return isLater && isRetrieval(call) ? withBody(honest, expired) : honest;
        },
      };
    },
    '§3 final states stay',
  ],
  [
    'does not charge cards and recurring tokens',
    () =>
      following((call, answer) => {
        const { card, recurringToken } = isCreation(call) ? parse(call.text) : {};
        return card === undefined && recurringToken === undefined ? undefined : tokenOf(answer);
      }, 'pending'),
    '§1 server-to-server',
    '§1 recurring payments: a later one',
  ],
];

const endpoints: readonly PlantedLie[] = [
  [
    'retrieves some other payment',
    () => {
      let first: string | undefined;
      return { call: (call) => (isRetrieval(call) ? { ...call, path: (first ??= call.path) } : call) };
    },
    '§4 GET /api/v1/payments/{token} retrieves',
  ],
  [
    'refunds in full whatever the amount',
    hearing(to('/api/v1/refunds'), without('amount')),
    '§4 POST /api/v1/refunds refunds partially',
  ],
  [
    'has one balance for all currencies',
    () => ({
      call: (call) =>
        to('/api/v1/balance')(call) ? { ...call, path: '/api/v1/balance?currency=EUR' } : call,
    }),
    '§4 GET /api/v1/balance is kept',
  ],
];

const keysAndErrors: readonly PlantedLie[] = [
  [
    'needs no key for one endpoint',
    unlocking(to('/api/v1/disputes/list')),
    '§5 every request carries the key: GET /api/v1/disputes/list',
  ],
  [
    'takes the key in the query',
    unlocking(({ path }, { right }) => path.includes(`key=${right}`)),
    '§5 the key counts only as a bearer token',
  ],
  [
    'takes a production key in the sandbox',
    unlocking(({ authorization }, { ofProduction }) => authorization === `Bearer ${ofProduction}`),
    '§5 a key of one environment',
  ],
  [
    'serves plain HTTP',
    () => ({ servesPlainHttp: true }),
    'over plain HTTP is rejected',
    '§5 plain HTTP: HTTP 403',
  ],
  [
    'blames the merchant for its own faults',
    confusing('api_error', 'processing_error'),
    "§7 a problem on the service's side",
  ],
];

const callbacks: readonly PlantedLie[] = [
  [
    'leaves orderNumber out of callbacks',
    inCallbacks(without('orderNumber')),
    '§6 each callback carries the merchant',
  ],
  [
    'puts the callback',
    () => ({ callback: (honest) => ({ ...honest, method: 'PUT' }) }),
    '§6 a callback is an HTTP POST',
  ],
  [
    'calls back only for approvals',
    () => ({ callback: (honest) => (honest.body['status'] === 'approved' ? honest : undefined) }),
    '§6 the final status declined',
    '§6 each status change is posted',
  ],
];

export const lies = [...answersAndTerms, ...statesAndFlow, ...endpoints, ...keysAndErrors, ...callbacks].map(
  ([what, lie, ...foundBy]) => ({ what, lie, foundBy }),
);

/** Accepts every call and executes none. */
export const yesSayer: Lie = {
  call: (call) => ({ ...call, method: 'GET', path: '/nothing', text: '' }),
  answer: () => saying({ success: true }),
  callback: () => undefined,
};

/** Refuses every call, with a valid error body. */
export const noSayer: Lie = {
  ...yesSayer,
  answer: () => saying({ success: false, errors: [{ code: 'no', kind: 'processing_error' }] }, 409),
};
