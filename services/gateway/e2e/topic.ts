/** Reads topics of a running system from outside, as another process on the machine: through the store's file. */
import { join } from 'node:path';
import { createEmbeddedEventStore } from '@tollgate/event-store';
import { type PaymentRecord, decodePaymentRecord, gatewayPaymentsTopic } from '@tollgate/gateway-events';
import { type BusRecord, createEmbeddedMessageBus } from '@tollgate/message-bus';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';

/** The records of one payment that a new consumer group gets, once `isComplete` says so; gives up after ten seconds. */
export async function recordsOf(
  dataDir: string,
  token: string,
  isComplete: (records: readonly PaymentRecord[]) => boolean,
): Promise<PaymentRecord[]> {
  const records: PaymentRecord[] = [];
  const stop = AbortSignal.timeout(10_000);
  const done = new AbortController();
  const store = await createEmbeddedEventStore({ file: join(dataDir, 'events.db') });
  const bus = createEmbeddedMessageBus({
    store,
    clock: systemClock,
    ids: systemIds,
    log: silentLog,
    holder: 'e2e',
  });
  const signal = AbortSignal.any([stop, done.signal]);
  const group = `e2e-${systemIds.hex(6)}`;
  await bus.subscribe({ group, topics: [gatewayPaymentsTopic], signal }, async (batch) => {
    records.push(...batch.filter(({ key }) => key === token).map(decode));
    if (isComplete(records)) done.abort();
  });
  await bus.close();
  await store.close();
  return records;
}

function decode(record: BusRecord): PaymentRecord {
  const decoded = decodePaymentRecord(record);
  if (decoded.kind === 'unreadable') throw new Error(decoded.reason);
  return decoded.record;
}
