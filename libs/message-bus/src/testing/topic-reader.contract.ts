import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { BusRecord, Message, MessageBus } from '../message-bus.ts';
import type { ReadTopicOptions, TopicReader } from '../message-bus.ts';
import { memberProbe, message, textOf, waiting } from './member-probe.ts';
import { freshGroup, type OpenMessageBus } from './message-bus.contract.ts';

/** The suite's requirements of an adapter: a reader of the topics of a bus. */
export interface OpenTopicReader extends OpenMessageBus {
  reader: TopicReader;
}

const numbered = (count: number): Message[] =>
  Array.from({ length: count }, (_, index) => message(`k${index % 7}`, String(index)));

const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index));

const sortedValues = (records: readonly BusRecord[]) =>
  records.map(textOf).toSorted((one, other) => Number(one) - Number(other));

/** The requirements of the port, sentence by sentence; for any number of partitions. */
export function describeTopicReader(name: string, open: () => Promise<OpenTopicReader>): void {
  describe(name, { timeout: 60_000 }, () => {
    let opened: OpenTopicReader;
    const bus = (): MessageBus => opened.bus;

    beforeAll(async () => {
      opened = await open();
    });

    afterAll(async () => {
      await opened.bus.close();
      await opened.dispose?.();
    });

    async function readAll(topic: string, from: ReadTopicOptions['from']): Promise<BusRecord[]> {
      const { signal } = new AbortController();
      return Array.fromAsync(opened.reader.readTopic(topic, { from, signal }));
    }

    /** Reads on until the test has ended. */
    function follow(topic: string, from: ReadTopicOptions['from']) {
      const controller = new AbortController();
      const records: BusRecord[] = [];
      const reading = (async () => {
        const options = { from, isFollowing: true, signal: controller.signal };
        for await (const record of opened.reader.readTopic(topic, options)) records.push(record);
      })();
      const stop = async () => {
        controller.abort();
        await reading;
      };
      onTestFinished(stop);
      return { records, stop };
    }

    function member(topic: string, group: string) {
      const probe = memberProbe(bus(), { group, topics: [topic] });
      onTestFinished(() => probe.stop());
      return probe;
    }

    describe('a reading from the beginning', () => {
      it('returns every record, those of a key in order, and ends', async () => {
        const topic = await opened.freshTopic();
        await bus().publish(topic, numbered(2_500));
        const records = await readAll(topic, 'beginning');
        expect(sortedValues(records)).toEqual(numbers(2_500));
        for (const ofKey of Map.groupBy(records, ({ key }) => key).values())
          expect(ofKey.map(textOf)).toEqual(sortedValues(ofKey));
      });

      it('returns records like a consumer', async () => {
        const topic = await opened.freshTopic();
        const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
        await bus().publish(topic, [{ key: 'é', value: bytes, headers: { ce_type: 'x' } }, ...numbered(9)]);
        const probe = member(topic, freshGroup());
        await probe.received(10);
        const inOrder = (records: readonly BusRecord[]) =>
          records.toSorted(
            (one, other) => one.partition - other.partition || Number(one.offset) - Number(other.offset),
          );
        expect(inOrder(await readAll(topic, 'beginning'))).toEqual(inOrder(probe.records));
      });

      it('ends with the existing records, even if others keep arriving', async () => {
        const topic = await opened.freshTopic();
        await bus().publish(topic, numbered(5));
        const values: string[] = [];
        const { signal } = new AbortController();
        for await (const record of opened.reader.readTopic(topic, { from: 'beginning', signal })) {
          values.push(textOf(record));
          await bus().publish(topic, [message('late', 'late')]);
        }
        expect(values.toSorted()).toEqual(numbers(5));
      });

      it('continues with new ones if it follows, until it is stopped', async () => {
        const topic = await opened.freshTopic();
        await bus().publish(topic, [message('k', '0')]);
        const { records, stop } = follow(topic, 'beginning');
        await expect.poll(() => records.map(textOf), waiting).toEqual(['0']);
        await bus().publish(topic, [message('k', '1'), message('k', '2')]);
        await expect.poll(() => records.map(textOf), waiting).toEqual(['0', '1', '2']);
        await stop();
        await bus().publish(topic, [message('k', '3')]);
        expect(records).toHaveLength(3);
      });

      it('returns no record of another topic', async () => {
        const topic = await opened.freshTopic();
        const other = await opened.freshTopic();
        await bus().publish(other, numbered(3));
        expect(await readAll(topic, 'beginning')).toEqual([]);
        await bus().publish(topic, [message('k', 'mine')]);
        expect((await readAll(topic, 'beginning')).map((record) => [record.topic, textOf(record)])).toEqual([
          [topic, 'mine'],
        ]);
      });
    });

    describe('a reading from the end', () => {
      it('returns only new records', async () => {
        const topic = await opened.freshTopic();
        await bus().publish(topic, numbered(20));
        const { records } = follow(topic, 'end');
        // It begins at some moment after this: a record published before that is not new.
        const publish = async () => {
          await bus().publish(topic, [message('k', 'new')]);
          return records.length;
        };
        await expect.poll(publish, waiting).toBeGreaterThan(0);
        expect(new Set(records.map(textOf))).toEqual(new Set(['new']));
      });

      it('returns nothing if it does not follow', async () => {
        const topic = await opened.freshTopic();
        await bus().publish(topic, numbered(20));
        expect(await readAll(topic, 'end')).toEqual([]);
      });
    });

    it('a reading from a time begins with the first record received then or later', async () => {
      const topic = await opened.freshTopic();
      const timeOf = async (key: string) => {
        await bus().publish(topic, [message(key, key)]);
        const records = await readAll(topic, 'beginning');
        return records.find((record) => record.key === key)?.timestamp ?? 0;
      };
      const first = await timeOf('first');
      // Only a later millisecond distinguishes two records.
      await expect.poll(() => Date.now(), waiting).toBeGreaterThan(first + 2);
      const second = await timeOf('second');
      const keysFrom = async (timestamp: number) =>
        (await readAll(topic, { timestamp })).map(({ key }) => key).toSorted();
      expect(await keysFrom(first)).toEqual(['first', 'second']);
      expect(await keysFrom(first + 1)).toEqual(['second']);
      expect(await keysFrom(second)).toEqual(['second']);
      expect(await keysFrom(second + 60_000)).toEqual([]);
    });

    describe('a reading', () => {
      it('does not affect any group', async () => {
        const [topic, group] = [await opened.freshTopic(), freshGroup()];
        await bus().publish(topic, numbered(10));
        const before = member(topic, group);
        await before.received(10);
        await before.stop();
        const { records, stop } = follow(topic, 'beginning');
        await bus().publish(topic, [message('k', '10')]);
        await expect.poll(() => records.length, waiting).toBe(11);
        await stop();
        const after = member(topic, group);
        await after.received(1);
        expect(after.values()).toEqual(['10']);
      });

      it('that was stopped before it began returns nothing', async () => {
        const topic = await opened.freshTopic();
        await bus().publish(topic, numbered(1));
        const options = { from: 'beginning' as const, signal: AbortSignal.abort() };
        expect(await Array.fromAsync(opened.reader.readTopic(topic, options))).toEqual([]);
      });

      it.each(['', 'a b', 'a/b', 'x'.repeat(101)])('of %j is refused', async (topic) => {
        await expect(readAll(topic, 'beginning')).rejects.toMatchObject({ code: 'bus_name_invalid' });
      });
    });
  });
}
