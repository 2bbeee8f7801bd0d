/** The routes of webhook endpoints next to a running notifier, over a real store, for specs. */
import type { EventStore } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import {
  answerInJsonOnly,
  dayMs,
  httpServerOptions,
  parseWebhookSecrets,
  silentLog,
  systemIds,
  isAllowedOrigin,
} from '@tollgate/service-kit';
import { createTeamDirectory } from '@tollgate/teams';
import { appendTeamEvents, givenTeam, originsAllowed, testVerifier } from '@tollgate/teams/testing';
import { createFakeClock } from '@tollgate/testing';
import fastify from 'fastify';
import { onTestFinished } from 'vitest';
import { openDeliveries } from '../deliveries.ts';
import { registerNotifierRoutes } from '../notifier.ts';
import { startReceiver } from './receiver.ts';
import { masterText, start } from './running.ts';

interface ShownEndpoint {
  id: string;
  url: string;
  status: string;
  disabledReason?: string;
}
export interface ShownDelivery {
  id: string;
  state: string;
  endpoint?: string;
  body: { type: string; status: string; token: string };
  deliveries: { outcome: string; statusCode?: number }[];
}
export interface Body {
  endpoint: ShownEndpoint;
  endpoints: ShownEndpoint[];
  secret: string;
  webhooks: ShownDelivery[];
  replayed: number;
  nextCursor?: string;
  errors: { code: string; parameter?: string }[];
}

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** @param wrap the store as the routes see it */
export async function startEndpointApi(wrap = (store: EventStore) => store) {
  const store = await temporaryStore();
  const receiver = await startReceiver();
  const keys = {
    shop: await givenTeam(store, { team: 'shop', keyId: 'k1' }),
    games: await givenTeam(store, { team: 'games', keyId: 'k2' }),
    payer: await givenTeam(store, { team: 'payer', keyId: 'k3', scopes: ['payouts', 'read'] }),
    production: await givenTeam(store, { team: 'production', keyId: 'k4', environment: 'production' }),
  };
  const { origin } = new URL(receiver.url);
  for (const team of Object.keys(keys))
    await appendTeamEvents(store, team, [originsAllowed('callback', origin, 'https://shop.example')]);
  const clock = createFakeClock({ now: Date.UTC(2030, 0, 1) });
  const deps = { store, clock, ids: systemIds, log: silentLog, secrets: parseWebhookSecrets(masterText) };
  const directory = createTeamDirectory({ ...deps, verifier: testVerifier });
  await directory.start();
  const deliveries = openDeliveries({ ...deps, file: ':memory:', retentionMs: dayMs });
  const app = fastify(httpServerOptions({ bodyLimitBytes: 4_096 }));
  answerInJsonOnly(app, silentLog);
  registerNotifierRoutes(app, { ...deps, store: wrap(store), deliveries, directory });
  onTestFinished(async () => {
    await app.close();
    await deliveries.stop();
    await directory.stop();
  });
  const call = async (method: Method, path: string, body?: unknown, key: keyof typeof keys = 'shop') => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const answer = await app.inject({
      method,
      url: `/api/v1/${path}`,
      headers: { authorization: `Bearer ${keys[key]}`, ...type },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
    return { status: answer.statusCode, headers: answer.headers, body: answer.json<Body>() };
  };
  const isCallbackAllowed = (team: string, url: string) =>
    isAllowedOrigin(url, directory.callbackOriginsOf(team));
  return {
    store,
    receiver,
    clock,
    call,
    /** In addition to the receiver of the spec. */
    allow: (url: string) =>
      appendTeamEvents(store, 'shop', [originsAllowed('callback', origin, new URL(url).origin)]),
    notify: (through: EventStore = store) => start(through, { clock, isCallbackAllowed }),
    add: async (terms: object = {}) =>
      (await call('POST', 'webhook-endpoints', { url: receiver.url, ...terms })).body,
  };
}
