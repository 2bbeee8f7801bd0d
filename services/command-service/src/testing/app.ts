/** The routes of the command service over a harness, called without a socket. */
import type { Scope, Authentication, Caller, TeamDirectory } from '@tollgate/teams';
import {
  type Route,
  apiErrors,
  errorsOf as errorsOfRoute,
  isErrorBody,
  routes,
} from '@tollgate/gateway-api/http';
import {
  answerInJsonOnly,
  createRequestIds,
  httpServerOptions,
  silentLog,
  systemClock,
  systemIds,
} from '@tollgate/service-kit';
import Fastify, { type InjectOptions, type LightMyRequestResponse } from 'fastify';
import { registerReviewRoutes } from '../routes/review-routes.ts';
import { registerMoneyRoutes } from '../routes/money-routes.ts';
import { registerPaymentRoutes } from '../routes/payment-routes.ts';
import { createUnmatchedOperations } from '@tollgate/books';
import { createBalances } from '@tollgate/wallets';
import { reservationsOf } from '@tollgate/wallets/testing';
import { type Harness, type Instance, caller } from '@tollgate/core/testing';

export interface AppOptions {
  scopes?: readonly Scope[];
  team?: Omit<Partial<Caller>, 'operator'>;
  authentication?: Authentication;
  /** The process that answers; the harness's own by default. */
  instance?: Instance;
}

type Asked = InjectOptions & { method: string; url: string };

export interface App {
  /** A body that is a string is sent as it is. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<LightMyRequestResponse>;
  get(path: string): Promise<LightMyRequestResponse>;
}

const allScopes = ['payments', 'refunds', 'payouts', 'cards', 'stored-cards', 'admin', 'read'] as const;

export const teamCaller: Caller = { ...caller, scopes: new Set(allScopes) };

export function directoryOf({ scopes = allScopes, team = {}, authentication }: AppOptions): TeamDirectory {
  const known = { ...caller, scopes: new Set(scopes), ...team };
  return {
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    authenticate: () => authentication ?? { kind: 'caller', caller: known },
    credentialsOfPeople: () => [],
    names: () => [],
    find: () => undefined,
    callbackOriginsOf: () => [],
    webhookSecretVersionsOf: () => [''],
    catchUp: () => Promise.resolve(),
    noteRefusal: () => undefined,
    health: () => ({ unsignedEvents: 0, suspectStreams: [] }),
  };
}

export function startApp(harness: Harness, options: AppOptions = {}): App {
  const genReqId = createRequestIds({ clock: systemClock, ids: systemIds });
  const app = Fastify({ ...httpServerOptions({ bodyLimitBytes: 4_096 }), genReqId });
  answerInJsonOnly(app, silentLog);
  const { inside } = options.instance ?? harness;
  const balances = createBalances({ ...inside, reservations: reservationsOf(inside) });
  const deps = {
    ...inside,
    balances,
    unmatched: createUnmatchedOperations(inside),
    directory: directoryOf(options),
    ids: systemIds,
    log: silentLog,
  };
  // Fastify ignores a second answer with a warning that is never read.
  let answers = 0;
  app.addHook('onRequest', async (_request, reply) => {
    const { send } = reply;
    reply.send = (payload) => {
      if (!(payload instanceof Error)) answers += 1;
      return send.call(reply, payload);
    };
  });
  registerPaymentRoutes(app, deps);
  registerMoneyRoutes(app, deps);
  registerReviewRoutes(app, deps);
  async function ask(request: Asked): Promise<LightMyRequestResponse> {
    answers = 0;
    const answer = await harness.passTime(app.inject(request));
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    if (answers > 1) throw new Error(`answered ${answers} times`);
    requireListed(request, answer);
    return answer;
  }
  return {
    post: (path, body, headers = {}) =>
      ask({
        method: 'POST',
        url: `/api/v1/${path}`,
        headers: { 'content-type': 'application/json', ...headers },
        payload: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    get: (path) => ask({ method: 'GET', url: `/api/v1/${path}` }),
  };
}

/** Each of our codes in an answer is listed with its route: the OpenAPI document is generated from that list. */
function requireListed({ method, url }: Asked, answer: LightMyRequestResponse): void {
  const isAsked = (each: Route) => new RegExp(`^${each.url.replaceAll(/:\w+/g, '[^/]+')}$`).test(url);
  const route = Object.values<Route>(routes).find((each) => each.method === method && isAsked(each));
  const body: unknown = answer.body === '' ? undefined : answer.json();
  if (route === undefined || !isErrorBody(body) || answer.statusCode === 405) return;
  const listed: readonly string[] = errorsOfRoute(route)[answer.statusCode] ?? [];
  for (const { code } of body.errors)
    if (Object.hasOwn(apiErrors, code) && !listed.includes(code))
      throw new Error(`${method} ${url} does not list ${answer.statusCode} ${code}`);
}

/** Status, and kind, code and parameter of each error. */
export function errorsOf(answer: LightMyRequestResponse): [number, ...string[]] {
  const { success, errors } = answer.json<{
    success: boolean;
    errors: { code: string; kind: string; message: string; parameter?: string }[];
  }>();
  if (success || errors.some(({ message }) => message === '')) throw new Error(`no error: ${answer.body}`);
  const each = errors.map(({ kind, code, parameter }) => [kind, code, parameter].filter(Boolean).join(' '));
  return [answer.statusCode, ...each];
}
