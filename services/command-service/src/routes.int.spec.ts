import { StoreUnavailable, type EventStore } from '@tollgate/event-store';
import type { Scope } from '@tollgate/payment-domain';
import { type Authentication, type TeamDirectory } from '@tollgate/read-models';
import { answerInJsonOnly, httpServerOptions, silentLog, systemIds } from '@tollgate/service-kit';
import Fastify, { type LightMyRequestResponse } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { registerCommandRoutes } from './routes.ts';
import type { CreationFault } from './testing/fake-payment-service.ts';
import { type Harness, createHarness } from './testing/harness.ts';

let harness: Harness | undefined;
afterEach(() => harness?.close());

interface Given {
  scopes?: Scope[];
  authentication?: Authentication;
  faults?: CreationFault[];
  wrapStore?: (store: EventStore) => EventStore;
}

async function start({ scopes = ['payments'], authentication, faults = [], wrapStore }: Given = {}) {
  harness = await createHarness(wrapStore);
  harness.provider.faults.push(...faults);
  const caller = { team: 'demo', keyId: 'k', environment: 'sandbox' as const, scopes: new Set(scopes) };
  const directory: TeamDirectory = {
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    authenticate: () => authentication ?? { kind: 'caller', caller },
  };
  const app = Fastify(httpServerOptions({ bodyLimitBytes: 4_096 }));
  answerInJsonOnly(app, silentLog);
  registerCommandRoutes(app, { ...harness.deps, directory, ids: systemIds, log: silentLog });
  const { passTime, provider } = harness;
  const post = (body: unknown, headers: Record<string, string> = {}): Promise<LightMyRequestResponse> =>
    passTime(
      app.inject({
        method: 'POST',
        url: '/api/v1/payments',
        headers: { 'content-type': 'application/json', ...headers },
        payload: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    );
  return { post, provider };
}

const tea = { product: 'Tea', amount: 1250, currency: 'EUR', orderNumber: 'order-1' };
const codesOf = (answer: LightMyRequestResponse) =>
  answer
    .json<{ errors: { code: string; kind: string }[] }>()
    .errors.map(({ code, kind }) => `${kind} ${code}`);

describe('POST /api/v1/payments answers', () => {
  it('200 with token, page, payment and position', async () => {
    const { post } = await start();
    const answer = await post(tea);
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['tollgate-position']).toMatch(/^\d+$/);
    expect(answer.headers['idempotent-replayed']).toBeUndefined();
    const { token } = answer.json<{ token: string }>();
    const payment = {
      token,
      status: 'init',
      phase: 'init',
      amount: 1250,
      currency: 'EUR',
      orderNumber: 'order-1',
    };
    expect(answer.json()).toMatchObject({
      success: true,
      processingUrl: 'https://pay.example/service-1',
      payment,
    });
  });

  it('the same to a repeat, and says that it is one', async () => {
    const { post } = await start();
    const first = await post(tea);
    const again = await post(tea);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.json()).toEqual(first.json());
  });

  it('202 while nobody knows, and never an error for that', async () => {
    const { post } = await start({ faults: [{ kind: 'lost-before' }] });
    const answer = await post(tea);
    expect(answer.statusCode).toBe(202);
    expect(answer.json()).toMatchObject({ success: true, payment: { status: 'init', phase: 'unresolved' } });
  });

  it.each([
    ['invalid_request_error', 'invalid_param', 400, 'invalid_request_error invalid_param'],
    ['processing_error', 'balance_less_than_amount', 409, 'processing_error balance_less_than_amount'],
    // The gateway's own account is at fault: the team's key and request are fine.
    ['authentication_error', 'incorrect_private_key', 502, 'api_error provider_account_refused'],
    ['settings_error', 'merchant_disabled', 502, 'api_error provider_account_refused'],
  ])('what the service refuses as %s %s with %i', async (errorKind, code, statusCode, expected) => {
    const { post } = await start({ faults: [{ kind: 'refused', code, errorKind }] });
    const answer = await post(tea);
    expect([answer.statusCode, ...codesOf(answer)]).toEqual([statusCode, expected]);
    expect(answer.json<{ token: string }>().token).toMatch(/^pay_/);
    expect((await post(tea)).json()).toEqual(answer.json());
  });

  it('503 where the service was not reached in any attempt', async () => {
    const { post } = await start({
      faults: [{ kind: 'not-sent' }, { kind: 'not-sent' }, { kind: 'not-sent' }],
    });
    const answer = await post(tea);
    expect([answer.statusCode, ...codesOf(answer)]).toEqual([503, 'api_error provider_unavailable']);
    expect(answer.headers['retry-after']).toBe('5');
  });

  it('422 to other terms under the same key', async () => {
    const { post, provider } = await start();
    await post(tea);
    const answer = await post({ ...tea, amount: 1 });
    expect([answer.statusCode, ...codesOf(answer)]).toEqual([
      422,
      'invalid_request_error idempotency_key_reused',
    ]);
    expect(provider.requests).toHaveLength(1);
  });

  it('503 and nothing sent where the announcement cannot be stored', async () => {
    const { post, provider } = await start({
      wrapStore: (store) => ({
        ...store,
        append: () => Promise.reject(new StoreUnavailable('store_unavailable', 'full', { retryable: true })),
      }),
    });
    const answer = await post(tea);
    expect([answer.statusCode, ...codesOf(answer)]).toEqual([503, 'api_error store_unavailable']);
    expect(provider.requests).toHaveLength(0);
  });

  it('401 and 403 before it looks at the body', async () => {
    const refused = { kind: 'refused', code: 'incorrect_private_key' } as const;
    const strangers = await start({ authentication: refused });
    expect((await strangers.post('{"half')).statusCode).toBe(401);
    await harness?.close();
    const readers = await start({ scopes: ['read'] });
    const answer = await readers.post('{"half');
    expect([answer.statusCode, ...codesOf(answer)]).toEqual([403, 'authentication_error scope_missing']);
  });

  it('400 to a body that is refused, and sends nothing', async () => {
    const { post, provider } = await start();
    const answer = await post({ ...tea, amount: 0 });
    expect([answer.statusCode, ...codesOf(answer)]).toEqual([400, 'invalid_request_error incorrect_amount']);
    expect(provider.requests).toHaveLength(0);
  });

  it('400 without any key to know a repeat by', async () => {
    const { post, provider } = await start();
    const answer = await post({ ...tea, orderNumber: undefined });
    expect([answer.statusCode, ...codesOf(answer)]).toEqual([
      400,
      'invalid_request_error idempotency_key_missing',
    ]);
    expect(provider.requests).toHaveLength(0);
  });
});
