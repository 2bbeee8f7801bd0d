/** The tested service as the tests see it: its operations, and a merchant with a customer and a callback address. */
import {
  describe,
  expectFailure,
  expectSuccess,
  hasSucceeded,
  statusIn,
  textField,
  type Answer,
  type Json,
  type Status,
} from './answers.ts';
import type { Callback, CallbackReceiver } from './callbacks.ts';
import { poll, type Clock } from './clock.ts';
import { Unmet, Violation, needs } from './conformance-test.ts';
import type { Http } from './http.ts';
import type { PaymentName, Sandbox } from './sandbox.ts';

export type Method = 'GET' | 'POST';

interface CallOptions {
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is, instead of `body`. */
  rawBody?: string;
  contentType?: string;
  /** The whole Authorization header; null sends none. @default the key */
  authorization?: string | null;
}

/** A payment that was created for a test. */
export interface Payment extends PaymentName {
  terms: Json;
  /** The answer of its creation. */
  answer: Answer;
}

export interface PeerOptions {
  baseUrl: string;
  key: string;
  httpUrl: string | undefined;
  otherKey?: string;
  currency: string;
  /** Sends a new Idempotency-Key with each POST: the specification has none, but a service in front may require one. */
  idempotencyKeys?: boolean;
  patienceMs: number;
}

export interface PeerDeps {
  http: Http;
  clock: Clock;
  /** Returns a unique text of letters. */
  newName: () => string;
  /** Undefined if its controls must not be used. */
  sandbox: Sandbox | undefined;
  /** Undefined if callbacks cannot reach this machine. */
  callbacks: CallbackReceiver | undefined;
}

const nobodyListens = 'http://127.0.0.1:9/callbacks';

/** The tested service as the tests see it. */
export type Peer = ReturnType<typeof createPeer>;

export function createPeer(options: PeerOptions, deps: PeerDeps) {
  const { baseUrl, key, otherKey, currency, patienceMs } = options;
  const { clock, newName } = deps;
  const calls = createCalls(options, deps);
  const merchant = createMerchant(options, deps, calls);
  const callbacks = () => required(deps.callbacks, needs.callbacks);
  const receivedFor = ({ orderNumber }: PaymentName): readonly Callback[] =>
    callbacks().receivedFor(orderNumber);
  return {
    baseUrl,
    key,
    otherKey: () => required(otherKey, needs.otherKey),
    currency,
    clock,
    /** Maximum wait for events that the specification promises without a time. */
    patienceMs,
    /** Returns a unique text: letters only, so that nothing mistakes it for a card number. */
    newName,
    sandbox: () => required(deps.sandbox, needs.sandbox),
    ...calls,
    ...merchant,
    ...createMoney(deps, { ...calls, ...merchant }),
    receivedFor,
    /** The first callback about a payment that has this status. */
    untilCallback: async (payment: PaymentName, status: Status): Promise<Callback> => {
      const found = await poll(clock, patienceMs, () =>
        receivedFor(payment).find(({ body }) => body['status'] === status),
      );
      if (found !== undefined) return found;
      const texts = receivedFor(payment).map(({ method, text }) => `${method} ${text}`);
      throw new Violation(
        `A callback with status ${status} should arrive within ${patienceMs / 1000} s; ` +
          (texts.length === 0 ? 'none arrived at all' : `there came ${texts.join(' and ')}`),
      );
    },
    answerCallbacks: (orderNumber: string, statusCodes: readonly number[]) =>
      callbacks().answerFor(orderNumber, statusCodes),
  };
}

/** @throws Unmet with `need` if the run does not have it */
function required<Thing>(thing: Thing | undefined, need: string): Thing {
  if (thing === undefined) throw new Unmet(need);
  return thing;
}

type Calls = ReturnType<typeof createCalls>;

function createCalls(options: PeerOptions, { http, newName }: PeerDeps) {
  const { baseUrl, httpUrl, key, idempotencyKeys } = options;
  const callAt =
    (origin: string) =>
    (method: Method, path: string, asked: CallOptions = {}) => {
      const { authorization = `Bearer ${key}`, contentType = 'application/json' } = asked;
      const body = asked.rawBody ?? (asked.body === undefined ? undefined : JSON.stringify(asked.body));
      const headers = {
        ...(authorization === null ? {} : { authorization }),
        ...(body === undefined ? {} : { 'content-type': contentType }),
        ...(idempotencyKeys && method === 'POST' ? { 'idempotency-key': newName() } : {}),
      };
      return http.send({ method, url: `${origin}${path}`, headers, ...(body === undefined ? {} : { body }) });
    };
  return {
    call: callAt(baseUrl),
    callPlainHttp: async (...asked: Parameters<ReturnType<typeof callAt>>) =>
      callAt(required(httpUrl, needs.plainHttp))(...asked),
    /** Opens a web page, or sends a form from it, as a browser does: without a key. */
    browse: (url: string, form?: Readonly<Record<string, string>>) => {
      if (form === undefined) return http.send({ method: 'GET', url });
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      return http.send({ method: 'POST', url, headers, body: new URLSearchParams(form).toString() });
    },
  };
}

type Merchant = ReturnType<typeof createMerchant>;

function createMerchant(options: PeerOptions, deps: PeerDeps, { call }: Calls) {
  const { clock, newName, sandbox, callbacks } = deps;
  /** All fields that a creation needs here, and a callback address of its own. */
  const terms = (fields: Json = {}): Json & { orderNumber: string } => {
    const orderNumber = newName();
    const callbackUrl = callbacks?.addressFor(orderNumber) ?? nobodyListens;
    return { product: 'Tea', amount: 1250, currency: options.currency, orderNumber, callbackUrl, ...fields };
  };
  const create = async (fields?: Json): Promise<Payment> => {
    const asked = terms(fields);
    const answer = await call('POST', '/api/v1/payments', { body: asked });
    expectSuccess(answer);
    return { token: textField(answer, 'token'), orderNumber: asked.orderNumber, terms: asked, answer };
  };
  const retrieve = async (token: string): Promise<Answer> => {
    const answer = await call('GET', `/api/v1/payments/${encodeURIComponent(token)}`);
    expectSuccess(answer);
    return answer;
  };
  const untilRetrieved = async (
    { token }: PaymentName,
    expected: string,
    isExpected: (answer: Answer) => boolean,
  ) => {
    const found = await poll(clock, options.patienceMs, async () => {
      const answer = await retrieve(token);
      return isExpected(answer) ? answer : undefined;
    });
    if (found !== undefined) return found;
    throw new Violation(`The payment should be ${expected}; ${describe(await retrieve(token))}`);
  };
  const untilStatus = (payment: PaymentName, status: Status): Promise<Answer> =>
    untilRetrieved(payment, status, (answer) => statusIn(answer) === status);
  const pay = async (payment: PaymentName, outcome: 'approved' | 'declined'): Promise<void> => {
    const answer = await required(sandbox, needs.sandbox).pay(payment, outcome);
    if (!hasSucceeded(answer)) throw new Unmet(`needs a customer who can pay: ${describe(answer)}`);
  };
  return {
    terms,
    create,
    retrieve,
    untilStatus,
    statusOf: async (token: string): Promise<Status> => statusIn(await retrieve(token)),
    /** A payment that the customer has paid, or failed to pay. */
    createSettled: async (status: 'approved' | 'declined', fields?: Json): Promise<Payment> => {
      const payment = await create(fields);
      await pay(payment, status);
      await untilStatus(payment, status);
      return payment;
    },
    /** A two-step payment that is authorized. */
    createHeld: async (fields?: Json): Promise<Payment> => {
      const payment = await create({ needConfirmation: true, ...fields });
      await pay(payment, 'approved');
      await untilStatus(payment, 'pending');
      return payment;
    },
  };
}

const dayMs = 24 * 60 * 60_000;
/** Long enough for any settlement that a sandbox may have. */
const settlementMs = 8 * dayMs;
const reserveAmount = 5_000_000;
const shortageCodes = ['no_money_available_on_refund', 'balance_less_than_amount'];

function createMoney({ sandbox }: PeerDeps, { call, createSettled }: Calls & Merchant) {
  const isShort = (answer: Answer): boolean =>
    !hasSucceeded(answer) && expectFailure(answer).some(({ code }) => shortageCodes.includes(code));
  /** Executes a step that needs money in the account; if it is short, a payment is created and settled first. */
  const withMoney = async (operation: () => Promise<Answer>): Promise<Answer> => {
    const first = await operation();
    if (!isShort(first)) return first;
    await createSettled('approved', { amount: reserveAmount });
    await required(sandbox, needs.sandbox).advance(settlementMs);
    return operation();
  };
  return {
    withMoney,
    refund: ({ token }: PaymentName, amount?: number): Promise<Answer> =>
      withMoney(() =>
        call('POST', '/api/v1/refunds', { body: { token, ...(amount === undefined ? {} : { amount }) } }),
      ),
  };
}
