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
import { Unmet, Violation } from './conformance-test.ts';
import type { Http } from './http.ts';
import type { PaymentName, Sandbox } from './sandbox.ts';

export type Method = 'GET' | 'POST';

interface CallOptions {
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is, instead of `body`. */
  rawBody?: string;
  contentType?: string;
  /** The whole Authorization header; null sends none, and left out it carries the key. */
  authorization?: string | null;
}

/** A payment that was created for a test. */
export interface Payment extends PaymentName {
  terms: Json;
  /** The answer of its creation. */
  answer: Answer;
}

export interface Peer {
  baseUrl: string;
  key: string;
  otherKey: string | undefined;
  currency: string;
  clock: Clock;
  /** How long to wait for what the specification says will happen, without saying when. */
  patienceMs: number;
  call(method: Method, path: string, options?: CallOptions): Promise<Answer>;
  callPlainHttp(method: Method, path: string, options?: CallOptions): Promise<Answer>;
  /** Opens a web page, or sends a form from it, as a browser does: without a key. */
  browse(url: string, form?: Readonly<Record<string, string>>): Promise<Answer>;
  /** A text that was never used before: letters only, so that nothing takes it for a card number. */
  newName(): string;
  /** All fields that a creation needs here, and a callback address of its own. */
  terms(fields?: Json): Json & { orderNumber: string };
  create(fields?: Json): Promise<Payment>;
  retrieve(token: string): Promise<Answer>;
  statusOf(token: string): Promise<Status>;
  untilStatus(payment: PaymentName, status: Status): Promise<Answer>;
  /** A payment that the customer has paid, or failed to pay. */
  createSettled(status: 'approved' | 'declined', fields?: Json): Promise<Payment>;
  /** A two-step payment that is authorized. */
  createHeld(fields?: Json): Promise<Payment>;
  /** Carries out what needs money in the account; where it is short, a payment is taken and settled first. */
  withMoney(operation: () => Promise<Answer>): Promise<Answer>;
  refund(payment: PaymentName, amount?: number): Promise<Answer>;
  sandbox: Sandbox;
  receivedFor(payment: PaymentName): readonly Callback[];
  /** The first callback about a payment that has this status. */
  untilCallback(payment: PaymentName, status: Status): Promise<Callback>;
  answerCallbacks(orderNumber: string, statusCodes: readonly number[]): void;
}

export interface PeerOptions {
  baseUrl: string;
  key: string;
  httpUrl: string | undefined;
  otherKey: string | undefined;
  currency: string;
  /** Sends a new Idempotency-Key with each POST: the specification knows none, and a service in front may want one. */
  sendsIdempotencyKeys: boolean;
  mayMoveClock: boolean;
  patienceMs: number;
}

export interface PeerDeps {
  http: Http;
  clock: Clock;
  /** Gives a text of letters that it gives only once. */
  newName: () => string;
  sandbox: Sandbox;
  /** Undefined where callbacks cannot reach this machine. */
  callbacks: CallbackReceiver | undefined;
}

const nobodyListens = 'http://127.0.0.1:9/callbacks';

export function createPeer(options: PeerOptions, deps: PeerDeps): Peer {
  const { baseUrl, key, otherKey, currency, patienceMs } = options;
  const { clock, newName, sandbox, callbacks } = deps;
  const calls = createCalls(options, deps);
  const merchant = createMerchant(options, deps, calls);
  return {
    ...{ baseUrl, key, otherKey, currency, clock, patienceMs, newName, sandbox },
    ...calls,
    ...merchant,
    ...createMoney(options, deps, { ...calls, ...merchant }),
    receivedFor: ({ orderNumber }) => callbacks?.receivedFor(orderNumber) ?? [],
    untilCallback: async ({ orderNumber }, status) => {
      const received = () => callbacks?.receivedFor(orderNumber) ?? [];
      const found = await poll(clock, patienceMs, () =>
        received().find(({ body }) => body['status'] === status),
      );
      if (found !== undefined) return found;
      const texts = received().map(({ method, text }) => `${method} ${text}`);
      throw new Violation(
        `A callback with status ${status} should arrive within ${patienceMs / 1000} s; ` +
          (texts.length === 0 ? 'none arrived at all' : `there came ${texts.join(' and ')}`),
      );
    },
    answerCallbacks: (orderNumber, statusCodes) => callbacks?.answerFor(orderNumber, statusCodes),
  };
}

type Calls = Pick<Peer, 'call' | 'callPlainHttp' | 'browse'>;

function createCalls(options: PeerOptions, { http, newName }: PeerDeps): Calls {
  const { baseUrl, httpUrl, key, sendsIdempotencyKeys } = options;
  const callAt =
    (origin: string) =>
    (method: Method, path: string, asked: CallOptions = {}) => {
      const { authorization = `Bearer ${key}`, contentType = 'application/json' } = asked;
      const body = asked.rawBody ?? (asked.body === undefined ? undefined : JSON.stringify(asked.body));
      const headers = {
        ...(authorization === null ? {} : { authorization }),
        ...(body === undefined ? {} : { 'content-type': contentType }),
        ...(sendsIdempotencyKeys && method === 'POST' ? { 'idempotency-key': newName() } : {}),
      };
      return http.send({ method, url: `${origin}${path}`, headers, ...(body === undefined ? {} : { body }) });
    };
  return {
    call: callAt(baseUrl),
    callPlainHttp: (...asked) => {
      if (httpUrl === undefined) throw new Unmet('needs --http-url');
      return callAt(httpUrl)(...asked);
    },
    browse: (url, form) => {
      if (form === undefined) return http.send({ method: 'GET', url });
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      return http.send({ method: 'POST', url, headers, body: new URLSearchParams(form).toString() });
    },
  };
}

type Merchant = Pick<
  Peer,
  'terms' | 'create' | 'retrieve' | 'statusOf' | 'untilStatus' | 'createSettled' | 'createHeld'
>;

function createMerchant(options: PeerOptions, deps: PeerDeps, { call }: Calls): Merchant {
  const { clock, newName, sandbox, callbacks } = deps;
  const terms: Merchant['terms'] = (fields = {}) => {
    const orderNumber = newName();
    const callbackUrl = callbacks?.addressFor(orderNumber) ?? nobodyListens;
    return {
      ...{ product: 'Tea', amount: 1250, currency: options.currency, orderNumber, callbackUrl },
      ...fields,
    };
  };
  const create: Merchant['create'] = async (fields) => {
    const asked = terms(fields);
    const answer = await call('POST', '/api/v1/payments', { body: asked });
    expectSuccess(answer);
    return { token: textField(answer, 'token'), orderNumber: asked.orderNumber, terms: asked, answer };
  };
  const retrieve: Merchant['retrieve'] = async (token) => {
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
  const untilStatus: Merchant['untilStatus'] = (payment, status) =>
    untilRetrieved(payment, status, (answer) => statusIn(answer) === status);
  const pay = async (payment: PaymentName, outcome: 'approved' | 'declined'): Promise<void> => {
    const answer = await sandbox.pay(payment, outcome);
    if (!hasSucceeded(answer)) throw new Unmet(`needs a customer who can pay: ${describe(answer)}`);
  };
  return {
    terms,
    create,
    retrieve,
    untilStatus,
    statusOf: async (token) => statusIn(await retrieve(token)),
    createSettled: async (status, fields) => {
      const payment = await create(fields);
      await pay(payment, status);
      await untilStatus(payment, status);
      return payment;
    },
    createHeld: async (fields) => {
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

function createMoney(
  { mayMoveClock }: PeerOptions,
  { sandbox }: PeerDeps,
  { call, createSettled }: Calls & Merchant,
): Pick<Peer, 'withMoney' | 'refund'> {
  const isShort = (answer: Answer): boolean =>
    !hasSucceeded(answer) && expectFailure(answer).some(({ code }) => shortageCodes.includes(code));
  const withMoney: Peer['withMoney'] = async (operation) => {
    const first = await operation();
    if (!isShort(first)) return first;
    if (!mayMoveClock) throw new Unmet('needs money in the account: let it settle by --sandbox --move-clock');
    await createSettled('approved', { amount: reserveAmount });
    await sandbox.advance(settlementMs);
    return operation();
  };
  return {
    withMoney,
    refund: ({ token }, amount) =>
      withMoney(() =>
        call('POST', '/api/v1/refunds', { body: { token, ...(amount === undefined ? {} : { amount }) } }),
      ),
  };
}
