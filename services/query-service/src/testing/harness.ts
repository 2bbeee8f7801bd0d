/** The query service from a caller's view, for specs. */
import { beginning, type EventStore } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { createPaymentIndex, type PaymentIndex } from '@tollgate/lists';
import { createTeamDirectory } from '@tollgate/teams';
import { paymentKind, type ViewKind } from '@tollgate/views';
import { givenTeam, testVerifier } from '@tollgate/teams/testing';
import { projectEvents, type AnyEvent } from '@tollgate/views/testing';
import {
  answerInJsonOnly,
  httpServerOptions,
  silentLog,
  systemClock,
  systemIds,
} from '@tollgate/service-kit';
import fastify, { type FastifyInstance, type LightMyRequestResponse } from 'fastify';
import { expect, onTestFinished } from 'vitest';
import { type RequestLedger, openRequestLedger } from '@tollgate/requests';
import { createQueryService, type QueryServiceOptions } from '../query-service.ts';

type Get = (url: string, headers?: Record<string, string>) => Promise<LightMyRequestResponse>;

export interface Given {
  app: FastifyInstance;
  store: EventStore;
  /** Gets with the key of team `shop`, scope `read`, in the sandbox. */
  get: Get;
  /** Gets with another header, or without. */
  getAs: (authorization: string | undefined) => Get;
  requests: RequestLedger;
}

/** The routes of the query service over a real store, index and directory of teams. */
export async function start(
  wrap: (store: EventStore) => EventStore = (store) => store,
  more: {
    wrapIndex?: (index: PaymentIndex) => PaymentIndex;
    options?: Partial<QueryServiceOptions>;
  } = {},
): Promise<Given> {
  const store = await temporaryStore();
  const key = await givenTeam(store, { team: 'shop', keyId: 'k1', scopes: ['read'] });
  await givenTeam(store, { team: 'games', keyId: 'k2', scopes: ['payments'] });
  await givenTeam(store, { team: 'desk', keyId: 'k6', scopes: ['admin'] });
  await givenTeam(store, { team: 'refunds', keyId: 'k4', scopes: ['refunds'] });
  await givenTeam(store, { team: 'payouts', keyId: 'k5', scopes: ['payouts'] });
  const log = silentLog;
  const directory = createTeamDirectory({ store, clock: systemClock, verifier: testVerifier, log });
  const index = createPaymentIndex({ file: ':memory:', store, log, clock: systemClock, ids: systemIds });
  await Promise.all([directory.start(), index.start()]);
  const app = fastify(httpServerOptions({ bodyLimitBytes: 1_024 }));
  answerInJsonOnly(app, log);
  const kept = { keptMs: 30 * 86_400_000, perTeamMax: 1_000 };
  const requests = openRequestLedger({ ...kept, file: ':memory:', log, clock: systemClock });
  createQueryService({
    store: wrap(store),
    index: more.wrapIndex?.(index) ?? index,
    directory,
    log,
    clock: systemClock,
    requests,
    recordOf: fakeRecordOf,
    ...more.options,
  }).registerRoutes(app);
  onTestFinished(async () => {
    await app.close();
    requests.close();
    await Promise.all([directory.stop(), index.stop()]);
  });
  const getAs: Given['getAs'] =
    (authorization) =>
    (url, headers = {}) =>
      app.inject({ url, headers: { ...headers, ...(authorization === undefined ? {} : { authorization }) } });
  return { app, store, requests, get: getAs(`Bearer ${key}`), getAs };
}

/** Identifies the event, and no more: the mapping is the publisher's. */
const fakeRecordOf: QueryServiceOptions['recordOf'] = async ({ id, type, stream, revision }) => ({
  topic: 'a topic',
  key: stream,
  headers: { ce_type: type },
  value: new TextEncoder().encode(JSON.stringify({ event: { id, type, sequence: revision } })),
});

/** Of team `shop`, scope `read`. */
export const shop = 'Bearer tg_sandbox_k1_secret-of-k1-0123456789';
export const games = 'Bearer tg_sandbox_k2_secret-of-k2-0123456789';
/** Of team `refunds`, with the scope of that name only. */
export const refundsOnly = 'Bearer tg_sandbox_k4_secret-of-k4-0123456789';
/** Of team `payouts`, with the scope of that name only. */
export const payoutsOnly = 'Bearer tg_sandbox_k5_secret-of-k5-0123456789';

/** Of team `desk`, with the scope `admin` only. */
export const adminOnly = 'Bearer tg_sandbox_k6_secret-of-k6-0123456789';

/** Adds payments, payouts or disputes to the read model and returns the header that waits for them. */
export async function given(
  store: EventStore,
  histories: Record<string, readonly AnyEvent[]>,
  kind: ViewKind = paymentKind,
): Promise<{ 'tollgate-min-position': string }> {
  let position = '';
  for (const [token, events] of Object.entries(histories))
    position = (await projectEvents(store, kind, token, events)).position;
  return { 'tollgate-min-position': position };
}

/** An index that applies nothing more. */
export const stuck = (index: PaymentIndex): PaymentIndex => ({
  ...index,
  position: () => beginning,
  waitFor: (_, timeoutMs) => systemClock.sleep(timeoutMs).then(() => false),
});

export const errorsOf = (answer: LightMyRequestResponse) => ({
  statusCode: answer.statusCode,
  ...answer.json<object>(),
});
export const refused = (statusCode: number, code: string, kind: string, parameter?: string) => ({
  statusCode,
  success: false,
  errors: [{ code, kind, message: expect.any(String), ...(parameter === undefined ? {} : { parameter }) }],
});
export const notFound = refused(404, 'payment_not_found', 'invalid_request_error', 'token');
export const invalid = (parameter: string) =>
  refused(400, 'invalid_param', 'invalid_request_error', parameter);
