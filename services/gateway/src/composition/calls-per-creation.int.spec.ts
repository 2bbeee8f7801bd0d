// On a real EventStoreDB a hosted creation took 4.5 ms of CPU: its own stream was read three times, each new view was preceded
// by an append of metadata, and at 250 creations a second views and topics lagged by 14 seconds after a minute.
import { servedStore } from '@tollgate/event-store/testing/eventstoredb';
import { eventually } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { callerOf, startHere } from './testing/start-here.ts';

const payments = 60;
const connections = 4;
const patient = { timeoutMs: 30_000 };

/** A whole gateway in this process, on a test server that counts calls; stream names without their ids. */
async function startCounted() {
  const counts: Record<string, number> = {};
  const onCall = ({ kind, stream }: { kind: string; stream: string }) => {
    const name = `${kind} ${stream.replace(/^(\$*)(view_)?[\d_]*([a-z]+)[-_].*$/, '$1$2$3')}`;
    counts[name] = (counts[name] ?? 0) + 1;
  };
  const { server } = await servedStore({ server: { onCall } });
  const call = callerOf(await startHere({ env: { EVENTSTORE_URL: server.url } }));
  return { counts, call };
}

it(
  'a hosted creation costs two appends and one read of its stream, and one for its view',
  { timeout: 60_000 },
  async () => {
    const { counts, call } = await startCounted();
    // Made at each start, and would read today's payments.
    await eventually(
      async () =>
        expect(await call('/api/v1/reconciliations')).toMatchObject({ body: { reconciliations: [{}] } }),
      patient,
    );
    const numbers = Array.from({ length: payments }, (_, number) => number).values();
    const create = async () => {
      for (const number of numbers) {
        const order = { product: 'Tea', amount: 1250, currency: 'EUR', orderNumber: `order-${number}` };
        expect((await call('/api/v1/payments', order)).status).toBe(200);
      }
    };
    await Promise.all(Array.from({ length: connections }, create));
    const all = { body: { payments: { length: payments } } };
    await eventually(
      async () => expect(await call('/api/v1/payments?perPage=500&phase=init')).toMatchObject(all),
      patient,
    );
    const perPayment = (name: string) => (counts[name] ?? 0) / payments;
    // Rounded: on a busy machine 60 payments once took 121 appends.
    expect(Math.round(perPayment('append payment') * 10) / 10).toBe(2);
    expect(Math.round(perPayment('read payment') * 10) / 10).toBe(1);
    expect(perPayment('append $$view_payment')).toBe(0);
    // One, if the outcome arrives while the projector waits for it; on a busy machine sometimes two.
    expect(perPayment('append view_payment')).toBeLessThan(2);
  },
);
