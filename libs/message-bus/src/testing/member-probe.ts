import { expect } from 'vitest';
import type { BusRecord, MessageBus } from '../message-bus.ts';

// A group of Kafka takes some seconds to reassign its partitions.
export const waiting = { timeout: 30_000, interval: 5 };

export interface MemberProbe {
  /** Everything that was handed over, in the order of handing over. */
  records: BusRecord[];
  batches: (readonly BusRecord[])[];
  values(): string[];
  /** Waits until that many records were handed over. */
  received(count: number): Promise<void>;
  /** Aborts the signal; resolves when the subscription has ended. */
  stop(): Promise<void>;
}

/** Follows topics as a member of a group. `handle` is called for each batch before the probe remembers it. */
export function memberProbe(
  bus: MessageBus,
  options: { group: string; topics: string[]; handle?: (batch: readonly BusRecord[]) => Promise<void> },
): MemberProbe {
  const { group, topics, handle } = options;
  const controller = new AbortController();
  const batches: (readonly BusRecord[])[] = [];
  const records: BusRecord[] = [];
  const ended = bus.subscribe({ group, topics, signal: controller.signal }, async (batch) => {
    await handle?.(batch);
    batches.push(batch);
    records.push(...batch);
  });
  return {
    records,
    batches,
    values: () => records.map(textOf),
    received: (count) => expect.poll(() => records.length, waiting).toBeGreaterThanOrEqual(count),
    stop: () => {
      controller.abort();
      return ended;
    },
  };
}

export const textOf = (record: Pick<BusRecord, 'value'>) => Buffer.from(record.value).toString('utf8');

export const message = (key: string, text: string, headers: Record<string, string> = {}) => ({
  key,
  value: Buffer.from(text),
  headers,
});
