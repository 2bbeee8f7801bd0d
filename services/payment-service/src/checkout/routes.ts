/** The hosted checkout: the service's web page on which the customer pays (specification, section 1). */
import { errorCode, omitUndefined, parseForm, type Log } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isObject } from '../api-requests.ts';
import type { PaymentChanges } from '../payment-changes.ts';
import { customerStep, isPaid, type Payment } from '../payments.ts';
import type { Database } from '../storage/database.ts';
import type { MerchantsTable } from '../storage/merchants-table.ts';
import { readCardForm } from './card-form.ts';
import { authenticationPage, cardPage, outcomePage, troublePage, type PageContext } from './pages.ts';
import { scriptSource } from './script.ts';
import { styleSource } from './style.ts';

export interface CheckoutDeps {
  database: Pick<Database, 'write'>;
  changes: Pick<PaymentChanges, 'open' | 'submitCard' | 'answerAuthentication'>;
  find: (token: string) => Payment | undefined;
  merchants: Pick<MerchantsTable, 'findById'>;
  now: () => number;
  log: Log;
}

const formBytesMax = 4_096;
const formType = 'application/x-www-form-urlencoded';
const readForm = async (_request: FastifyRequest, text: string | Buffer) => parseForm(String(text));

/** The path of a payment's page. */
export const checkoutPath = (token: string): string => `/checkout/${token}`;
const authenticationPath = (token: string): string => `${checkoutPath(token)}/authentication`;

export function registerCheckout(app: FastifyInstance, deps: CheckoutDeps): void {
  const options = { bodyLimit: formBytesMax };
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser(formType, { parseAs: 'string' }, readForm);
    scope.setErrorHandler(showTrouble(deps));
    scope.get('/checkout/:token', showPayment(deps));
    scope.post('/checkout/:token', options, takeCard(deps));
    scope.get('/checkout/:token/authentication', showAuthentication(deps));
    scope.post('/checkout/:token/authentication', options, takeAnswer(deps));
  });
}

/** What a page needs in addition to its payment. */
const contextOf = ({ merchants }: CheckoutDeps, payment: Payment): PageContext =>
  omitUndefined({ merchant: merchants.findById(payment.merchantId)?.name, locale: payment.locale });

type Route = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>;

/** Opening the page makes a payment pending. */
const showPayment =
  (deps: CheckoutDeps): Route =>
  async (request, reply) => {
    const payment = deps.database.write(() => deps.changes.open(tokenIn(request)));
    if (payment === undefined) return notFound(reply);
    const step = customerStep(payment);
    if (step === 'authentication')
      return secured(reply, payment).redirect(authenticationPath(payment.token), 303);
    const context = contextOf(deps, payment);
    const page = step === 'card' ? cardPage(payment, undefined, context) : outcomePage(payment, context);
    return show(reply, 200, page, payment);
  };

const takeCard =
  (deps: CheckoutDeps): Route =>
  async (request, reply) => {
    const { database, changes, now } = deps;
    const payment = database.write(() => changes.open(tokenIn(request)));
    if (payment === undefined) return notFound(reply);
    // Repeated or outdated form: show the current state and change nothing.
    if (customerStep(payment) === 'none') return finish(reply, payment);
    const form = readCardForm(formIn(request), now());
    if (form.card === undefined)
      return show(reply, 422, cardPage(payment, form, contextOf(deps, payment)), payment);
    return finish(reply, database.write(() => changes.submitCard(payment.token, form.card)) ?? payment);
  };

const showAuthentication =
  (deps: CheckoutDeps): Route =>
  async (request, reply) => {
    const payment = deps.find(tokenIn(request));
    if (payment === undefined) return notFound(reply);
    if (customerStep(payment) !== 'authentication')
      return secured(reply, payment).redirect(checkoutPath(payment.token), 303);
    return show(reply, 200, authenticationPage(payment, contextOf(deps, payment)), payment);
  };

const takeAnswer =
  (deps: CheckoutDeps): Route =>
  async (request, reply) => {
    const answer = formIn(request).get('answer');
    const token = tokenIn(request);
    const isAnswered = answer === 'confirm' || answer === 'reject';
    const payment = isAnswered
      ? deps.database.write(() => deps.changes.answerAuthentication(token, answer === 'confirm'))
      : deps.find(token);
    return payment === undefined ? notFound(reply) : finish(reply, payment);
  };

/** Redirects the customer: to the merchant once the payment is decided, if the merchant has given an address. */
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

const notFound = (reply: FastifyReply): FastifyReply => show(reply, 404, troublePage('notFound'));

const show = (reply: FastifyReply, statusCode: number, page: string, payment?: Payment): FastifyReply =>
  secured(reply, payment).code(statusCode).type('text/html; charset=utf-8').send(page);

// No Strict-Transport-Security: on localhost it would break every other service that uses plain HTTP.
const secured = (reply: FastifyReply, payment: Payment | undefined): FastifyReply =>
  reply.headers({
    'content-security-policy': contentSecurityPolicy(payment),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
  });

/** Browsers apply `form-action` to the redirect after a form as well, so it includes the merchant's origins. */
function contentSecurityPolicy(payment: Payment | undefined): string {
  const redirects = [payment?.redirectSuccessUrl, payment?.redirectFailUrl].flatMap((url) =>
    url === undefined ? [] : [new URL(url).origin],
  );
  // A host may contain characters that end a directive; such an origin is omitted.
  const origins = redirects.filter((origin) => /^https?:\/\/[a-z0-9.:[\]-]+$/.test(origin));
  const fixed = `default-src 'none'; style-src ${styleSource}; script-src ${scriptSource}; base-uri 'none'; frame-ancestors 'none'`;
  return `${fixed}; form-action ${["'self'", ...new Set(origins)].join(' ')}`;
}

const showTrouble =
  (deps: CheckoutDeps) =>
  (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const payment = deps.find(tokenIn(request));
    const context = payment === undefined ? {} : contextOf(deps, payment);
    const statusCode = isObject(error) && typeof error['statusCode'] === 'number' ? error['statusCode'] : 500;
    if (statusCode < 500) return show(reply, statusCode, troublePage('unreadable', context));
    deps.log.error({ error, code: errorCode(error) ?? '', route: 'checkout' }, 'request failed');
    return show(reply, 500, troublePage('failed', context));
  };

const tokenIn = ({ params }: FastifyRequest): string => (isObject(params) ? String(params['token']) : '');

const formIn = ({ body }: FastifyRequest): URLSearchParams =>
  body instanceof URLSearchParams ? body : new URLSearchParams();
