/** The typed HTTPS client of the Payment Service (specification, sections 4 and 5). */
import { X509Certificate } from 'node:crypto';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import {
  classify,
  readCreation,
  readPayment,
  readPayments,
  type AnswerReader,
  type CallOutcome,
} from './classify.ts';
import { createExchange, type ExchangeRequest, type Sleeper } from './exchange.ts';
import type {
  CreatePaymentAnswer,
  CreatePaymentRequest,
  ListPaymentsQuery,
  ServicePayment,
} from './schemas.ts';

export type { Sleeper } from './exchange.ts';

/** The operations of the Payment Service. None rejects for anything that the peer or the network does. */
export interface PaymentServiceClient {
  /** Sent once; see {@link CallOutcome} for what its end proves. */
  createPayment(request: CreatePaymentRequest): Promise<CallOutcome<CreatePaymentAnswer>>;
  /** An unknown token is `refused` with the code `payment_not_found`. */
  retrievePayment(token: string): Promise<CallOutcome<ServicePayment>>;
  /** Newest first. With `orderNumber`, only payments of that order number. */
  listPayments(query: Partial<ListPaymentsQuery>): Promise<CallOutcome<ServicePayment[]>>;
  /** Waits for the calls under way, at most one deadline; later calls are `not-sent`. */
  close(): Promise<void>;
}

export interface PaymentServiceClientOptions {
  /** Address of the service, `https` only (section 5); a path in it comes before `/api/v1`. */
  baseUrl: string;
  /** The merchant's private key, asked for anew at each call. */
  privateKey: { reveal(): string };
  /** PEM certificates that are trusted beside the usual ones. */
  ca?: string;
  /** Milliseconds for a whole operation: waiting for a connection, connecting, sending, reading the answer. Default 10,000. */
  deadlineMs?: number;
  /** Calls on the wire at once; further ones wait within their deadline. Default 64. */
  maxConnections?: number;
  /** Where the deadlines come from. */
  clock: Sleeper;
}

/** The client cannot be made from its options. The message says which, and holds none of their values. */
export class PaymentServiceClientError extends Error {
  readonly code = 'payment_service_options_invalid';
  override readonly name = 'PaymentServiceClientError';
}

const deadlineMsDefault = 10_000;
const maxConnectionsDefault = 64;

/** @throws PaymentServiceClientError where an option is unusable; plain HTTP is refused here. */
export function createPaymentServiceClient(options: PaymentServiceClientOptions): PaymentServiceClient {
  const { origin, basePath } = readBaseUrl(options.baseUrl);
  assertPrivateKey(options.privateKey.reveal());
  const exchange = createExchange({
    origin,
    secureContext: options.ca === undefined ? undefined : trusting(options.ca),
    deadlineMs: positiveInteger('deadlineMs', options.deadlineMs ?? deadlineMsDefault),
    maxConnections: positiveInteger('maxConnections', options.maxConnections ?? maxConnectionsDefault),
    clock: options.clock,
  });

  async function call<Answer>(
    request: { method: 'GET' | 'POST'; path: string; body?: string },
    read: AnswerReader<Answer>,
    cardSecrets: string[] = [],
  ): Promise<CallOutcome<Answer>> {
    const key = options.privateKey.reveal();
    const path = `${basePath}/api/v1${request.path}`;
    const result = await exchange.send({ ...request, path, headers: headersOf(request, key) });
    return classify(result, read, [key, ...cardSecrets]);
  }

  return {
    createPayment: async (request) => {
      const { card } = request;
      const body = JSON.stringify(request);
      return call({ method: 'POST', path: '/payments', body }, readCreation, card && [card.pan, card.cvv]);
    },
    retrievePayment: async (token) => {
      const segment = toPathSegment(token);
      if (segment === undefined) return { kind: 'not-sent', reason: 'unusable token' };
      return call({ method: 'GET', path: `/payments/${segment}` }, readPayment(token));
    },
    listPayments: (query) => {
      const path = `/payments${toQueryString(query)}`;
      return call({ method: 'GET', path }, readPayments(query.orderNumber));
    },
    close: () => exchange.close(),
  };
}

/** An encoded answer would be unreadable, so none is asked for. */
const headersOf = (request: Pick<ExchangeRequest, 'body'>, key: string): Record<string, string> => ({
  authorization: `Bearer ${key}`,
  accept: 'application/json',
  'accept-encoding': 'identity',
  ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
});

/** Undefined for what no encoding keeps inside its place in a path: nothing, dots, half of a surrogate pair. */
const toPathSegment = (token: string): string | undefined =>
  token === '' || token === '.' || token === '..' || !token.isWellFormed()
    ? undefined
    : encodeURIComponent(token);

function toQueryString(query: Partial<ListPaymentsQuery>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
  return given.size === 0 ? '' : `?${given.toString()}`;
}

function readBaseUrl(baseUrl: string): { origin: string; basePath: string } {
  const url = URL.parse(baseUrl);
  if (url?.protocol !== 'https:')
    throw new PaymentServiceClientError(
      "The Payment Service's address must begin with https://; it takes no plain HTTP.",
    );
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw new PaymentServiceClientError(
      "The Payment Service's address must be without user name, password, query and fragment.",
    );
  return { origin: url.origin, basePath: url.pathname.replace(/\/+$/, '') };
}

function assertPrivateKey(key: string): void {
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new PaymentServiceClientError(
      'The private key must be printable ASCII without spaces, and not empty.',
    );
}

/** Node ignores what is no certificate without a word, and `ca` alone would replace the usual ones. */
function trusting(ca: string): SecureContext {
  try {
    new X509Certificate(ca);
    return createSecureContext({ ca: [...getCACertificates('default'), ca] });
  } catch {
    throw new PaymentServiceClientError(
      'The certificate to trust beside the usual ones must be in PEM form.',
    );
  }
}

function positiveInteger(name: 'deadlineMs' | 'maxConnections', value: number): number {
  if (Number.isSafeInteger(value) && value > 0 && value < 2 ** 31) return value;
  throw new PaymentServiceClientError(`${name} must be a whole number from 1 to 2,147,483,647.`);
}
