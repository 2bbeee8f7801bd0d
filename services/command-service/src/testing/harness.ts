/** The inside of the command service over a real store and a Payment Service in memory, with time in the test's hand. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EventStore, createEmbeddedEventStore } from '@tollgate/event-store';
import { decodePaymentEvent, paymentStream } from '@tollgate/payment-domain';
import { type Clock, silentLog } from '@tollgate/service-kit';
import { createFakeClock, createFakeIds } from '@tollgate/testing';
import type { CallTimes } from '../account.ts';
import { type CreatePaymentDependencies, createPayment } from '../create-payment.ts';
import { createCreationCalls } from '../creation-call.ts';
import { look } from '../look.ts';
import { createLooks } from '../looks.ts';
import { type Cause, createPayments } from '../payments.ts';
import { createFakePaymentService } from './fake-payment-service.ts';

export const times: CallTimes = { sendWithinMs: 1_000, callDeadlineMs: 2_000, quietMs: 3_000 };
export const cause: Cause = {
  correlationId: 'c',
  causationId: 'c',
  actor: { kind: 'service', name: 'spec' },
};

export const teaFor = (orderNumber: string, amount = 1250) => ({
  caller: {
    team: 'demo',
    keyId: 'k',
    environment: 'sandbox' as const,
    scopes: new Set(['payments' as const]),
  },
  key: { source: 'orderNumber' as const, value: orderNumber },
  request: { product: 'Tea', amount, currency: 'EUR', orderNumber },
  cause,
});

export type Harness = Awaited<ReturnType<typeof createHarness>>;

/** @param wrapStore lets a spec make the store fail */
export async function createHarness(wrapStore: (store: EventStore) => EventStore = (store) => store) {
  const directory = mkdtempSync(join(tmpdir(), 'tollgate-command-'));
  const realStore = await createEmbeddedEventStore({ file: join(directory, 'events.db') });
  const store = wrapStore(realStore);
  const fakeClock = createFakeClock();
  const ids = createFakeIds(1);
  const provider = createFakePaymentService();

  /** One process of the command service; several share the store. */
  function startInstance(clock: Clock = fakeClock, stopping = new AbortController().signal) {
    const payments = createPayments({ store, clock, ids });
    const account = { name: 'sandbox', client: provider.client };
    const callbackUrlOf = (environment: string, token: string) =>
      `https://gateway.example/callbacks/${environment}/${token}/x`;
    const base = { payments, account, times, clock, log: silentLog };
    const calls = createCreationCalls({ ...base, callbackUrlOf, stopping });
    const looks = createLooks<Cause>((token, why) => look({ ...base, calls }, token, why), stopping);
    const deps: CreatePaymentDependencies = {
      ...base,
      calls,
      look: (token, why) => looks.request(token, why),
    };
    return {
      payments,
      calls,
      looks,
      deps,
      create: (input: ReturnType<typeof teaFor>) => createPayment(deps, input),
    };
  }

  return {
    store,
    clock: fakeClock,
    provider,
    startInstance,
    ...startInstance(),
    async history(token: string): Promise<string[]> {
      const types: string[] = [];
      for await (const event of realStore.read(paymentStream(token)))
        types.push(decodePaymentEvent(event).type);
      return types;
    },
    /** Lets time pass only while somebody sleeps: what waits for the disk does not find hours gone by. */
    async passTime<Value>(work: Promise<Value>): Promise<Value> {
      const state = { hasEnded: false };
      void work.finally(() => (state.hasEnded = true)).catch(() => undefined);
      while (!state.hasEnded) {
        if (fakeClock.sleeperCount() > 0) await fakeClock.advance(50);
        else await new Promise((resolve) => setImmediate(resolve));
      }
      return work;
    },
    async close(): Promise<void> {
      await realStore.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
