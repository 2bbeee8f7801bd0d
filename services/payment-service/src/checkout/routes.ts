/** The hosted checkout: a web page of the service on which the customer pays (specification, section 1). */
import { errorCode, type Log } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isObject } from '../api-requests.ts';
import type { Environment } from '../config.ts';
import type { PaymentChanges } from '../payment-changes.ts';
import { customerStep, isPaid, type Payment } from '../payments.ts';
import { readCardForm } from './card-form.ts';
import { authenticationPage, cardPage, outcomePage, troublePage } from './pages.ts';
import { styleSource } from './style.ts';

export interface CheckoutDeps {
  changes: Pick<PaymentChanges, 'open' | 'submitCard' | 'answerAuthentication'>;
  find: (token: string) => Payment | undefined;
  environment: Environment;
  now: () => number;
  log: Log;
}

const formBytesMax = 4_096;
const formType = 'application/x-www-form-urlencoded';
const parseForm = async (_request: FastifyRequest, text: string | Buffer) =>
  new URLSearchParams(String(text));

/** The path of a payment's page. */
export const checkoutPath = (token: string): string => `/checkout/${token}`;
const authenticationPath = (token: string): string => `${checkoutPath(token)}/authentication`;

export function registerCheckout(app: FastifyInstance, deps: CheckoutDeps): void {
  const options = { bodyLimit: formBytesMax };
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(formType, { parseAs: 'string' }, parseForm);
    scope.setErrorHandler(showTrouble(deps));
    scope.get('/checkout/:token', showPayment(deps));
    scope.post('/checkout/:token', options, takeCard(deps));
    scope.get('/checkout/:token/authentication', showAuthentication(deps));
    scope.post('/checkout/:token/authentication', options, takeAnswer(deps));
  });
}

type Route = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** Opening the page is what makes a payment pending. */
const showPayment =
  ({ changes, environment }: CheckoutDeps): Route =>
  async (request, reply) => {
    const payment = await changes.open(tokenIn(request));
    if (payment === undefined) return notFound(reply, environment);
    const step = customerStep(payment);
    if (step === 'authentication')
      return secured(reply, payment).redirect(authenticationPath(payment.token), 303);
    const page =
      step === 'card' ? cardPage(payment, undefined, environment) : outcomePage(payment, environment);
    return show(reply, 200, page, payment);
  };

const takeCard =
  ({ changes, now, environment }: CheckoutDeps): Route =>
  async (request, reply) => {
    const payment = await changes.open(tokenIn(request));
    if (payment === undefined) return notFound(reply, environment);
    // Sent twice, or from a page of the past: what has happened is shown, and nothing happens again.
    if (customerStep(payment) === 'none') return finish(reply, payment);
    const form = readCardForm(formIn(request), now());
    if (form.card === undefined) return show(reply, 422, cardPage(payment, form, environment), payment);
    return finish(reply, (await changes.submitCard(payment.token, form.card)) ?? payment);
  };

const showAuthentication =
  ({ find, environment }: CheckoutDeps): Route =>
  async (request, reply) => {
    const payment = find(tokenIn(request));
    if (payment === undefined) return notFound(reply, environment);
    if (customerStep(payment) !== 'authentication')
      return secured(reply, payment).redirect(checkoutPath(payment.token), 303);
    return show(reply, 200, authenticationPage(payment, environment), payment);
  };

const takeAnswer =
  ({ changes, find, environment }: CheckoutDeps): Route =>
  async (request, reply) => {
    const answer = formIn(request).get('answer');
    const token = tokenIn(request);
    const isAnswered = answer === 'confirm' || answer === 'reject';
    const payment = isAnswered
      ? await changes.answerAuthentication(token, answer === 'confirm')
      : find(token);
    return payment === undefined ? notFound(reply, environment) : finish(reply, payment);
  };

/** Sends the customer to where the payment now stands: to the merchant once it is decided, if the merchant wants so. */
function finish(reply: FastifyReply, payment: Payment): FastifyReply {
  if (customerStep(payment) === 'authentication')
    return secured(reply, payment).redirect(authenticationPath(payment.token), 303);
  const merchantUrl = isPaid(payment)
    ? payment.redirectSuccessUrl
    : payment.status === 'declined'
      ? payment.redirectFailUrl
      : undefined;
  const target = merchantUrl === undefined ? checkoutPath(payment.token) : new URL(merchantUrl).href;
  return secured(reply, payment).redirect(target, 303);
}

const notFound = (reply: FastifyReply, environment: Environment): FastifyReply =>
  show(reply, 404, troublePage('notFound', 'en', environment));

const show = (reply: FastifyReply, statusCode: number, page: string, payment?: Payment): FastifyReply =>
  secured(reply, payment).code(statusCode).type('text/html; charset=utf-8').send(page);

// No Strict-Transport-Security: for localhost it would break every other program there that speaks plain HTTP.
const secured = (reply: FastifyReply, payment: Payment | undefined): FastifyReply =>
  reply.headers({
    'content-security-policy': contentSecurityPolicy(payment),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
  });

/** Browsers hold the redirect that follows a form against `form-action` too, so the merchant's origins are in it. */
function contentSecurityPolicy(payment: Payment | undefined): string {
  const redirects = [payment?.redirectSuccessUrl, payment?.redirectFailUrl].flatMap((url) =>
    url === undefined ? [] : [new URL(url).origin],
  );
  // A host may hold characters that end a directive; such an origin is left out.
  const origins = redirects.filter((origin) => /^https?:\/\/[a-z0-9.:[\]-]+$/.test(origin));
  const fixed = `default-src 'none'; style-src ${styleSource}; base-uri 'none'; frame-ancestors 'none'`;
  return `${fixed}; form-action ${["'self'", ...new Set(origins)].join(' ')}`;
}

const showTrouble =
  ({ find, log, environment }: CheckoutDeps) =>
  (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const locale = find(tokenIn(request))?.locale ?? 'en';
    const statusCode = isObject(error) && typeof error['statusCode'] === 'number' ? error['statusCode'] : 500;
    if (statusCode < 500) return show(reply, statusCode, troublePage('unreadable', locale, environment));
    log.error({ error, code: errorCode(error) ?? '', route: 'checkout' }, 'request failed');
    return show(reply, 500, troublePage('failed', locale, environment));
  };

const tokenIn = ({ params }: FastifyRequest): string => (isObject(params) ? String(params['token']) : '');

const formIn = ({ body }: FastifyRequest): URLSearchParams =>
  body instanceof URLSearchParams ? body : new URLSearchParams();
