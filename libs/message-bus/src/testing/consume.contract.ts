import { describe, expect, it } from 'vitest';
import type { BusRecord, Message, MessageBus } from '../message-bus.ts';
import { freshGroup, type Buses } from './message-bus.contract.ts';
import { message, textOf, waiting } from './member-probe.ts';

const numbered = (count: number, first = 0): Message[] =>
  Array.from({ length: count }, (_, index) => message(`k${(first + index) % 7}`, String(first + index)));

const sorted = (values: Iterable<string>) =>
  [...values].toSorted((one, other) => Number(one) - Number(other));

const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index));

/** In each partition, the first delivery of a record comes after those of all earlier records. */
function expectOrder(records: readonly BusRecord[]): void {
  for (const ofPartition of Map.groupBy(records, ({ partition }) => partition).values()) {
    const first = [...new Set(ofPartition.map(({ offset }) => offset))];
    expect(first).toEqual(sorted(first));
  }
}

async function publishInTurn(bus: MessageBus, topic: string, messages: readonly Message[]): Promise<void> {
  for (const each of messages) await bus.publish(topic, [each]);
}

export function describeConsume(given: Buses): void {
  describe('subscribe', () => {
    it('starts a new group at the first record, and continues with new ones', async () => {
      const topic = await given.topic();
      await given.bus().publish(topic, numbered(10));
      const member = given.member({ group: freshGroup(), topics: [topic] });
      await member.received(10);
      await publishInTurn(given.bus(), topic, numbered(5, 10));
      await member.received(15);
      expect(sorted(member.values())).toEqual(numbers(15));
      expectOrder(member.records);
    });

    it('hands over batches of one partition each', async () => {
      const topic = await given.topic();
      await given.bus().publish(topic, numbered(200));
      const member = given.member({ group: freshGroup(), topics: [topic] });
      await member.received(200);
      for (const batch of member.batches) {
        expect(batch.length).toBeGreaterThan(0);
        expect(new Set(batch.map(({ partition }) => partition)).size).toBe(1);
      }
    });

    it('delivers every record to each group', async () => {
      const topic = await given.topic();
      const members = [1, 2].map(() => given.member({ group: freshGroup(), topics: [topic] }));
      await given.bus().publish(topic, numbered(20));
      for (const member of members) {
        await member.received(20);
        expect(sorted(member.values())).toEqual(numbers(20));
      }
    });

    it('reads several topics, and no other', async () => {
      const [one, two] = [await given.topic(), await given.topic()];
      const member = given.member({ group: freshGroup(), topics: [one, two] });
      await given.bus().publish(one, [message('k', 'one')]);
      await given.bus().publish(await given.topic(), [message('k', 'other')]);
      await given.bus().publish(two, [message('k', 'two')]);
      await member.received(2);
      expect(member.records.map((record) => [record.topic, textOf(record)]).toSorted()).toEqual(
        [
          [one, 'one'],
          [two, 'two'],
        ].toSorted(),
      );
    });

    it('hands over the records of a key in order, one batch after the other', async () => {
      const topic = await given.topic();
      let running = 0;
      const overlaps: number[] = [];
      const handle = async (batch: readonly BusRecord[]) => {
        if (batch.some(({ key }) => key === 'k0')) overlaps.push((running += 1));
        await new Promise(setImmediate);
        if (batch.some(({ key }) => key === 'k0')) running -= 1;
      };
      const member = given.member({ group: freshGroup(), topics: [topic], handle });
      await publishInTurn(given.bus(), topic, numbered(70));
      await member.received(70);
      expect(Math.max(...overlaps)).toBe(1);
      expectOrder(member.records);
    });
  });

  describe('a group', () => {
    it('continues after its handled records when it returns', async () => {
      const [topic, group] = [await given.topic(), freshGroup()];
      await given.bus().publish(topic, numbered(10));
      const before = given.member({ group, topics: [topic] });
      await before.received(10);
      await before.stop();
      await given.bus().publish(topic, numbered(10, 10));
      const after = given.member({ group, topics: [topic] }, await given.another());
      await after.received(10);
      expect(sorted(after.values())).toEqual(numbers(20).slice(10));
    });

    it('loses no record and keeps the order while members join and leave', async () => {
      const [topic, group, another] = [await given.topic(), freshGroup(), await given.another()];
      const seen: BusRecord[] = [];
      const handle = async (batch: readonly BusRecord[]) => void seen.push(...batch);
      const first = given.member({ group, topics: [topic], handle });
      await given.bus().publish(topic, numbered(30));
      await first.received(1);
      given.member({ group, topics: [topic], handle }, another);
      await given.bus().publish(topic, numbered(30, 30));
      await first.stop();
      await given.bus().publish(topic, numbered(30, 60));
      await expect.poll(() => new Set(seen.map(textOf)).size, waiting).toBe(90);
      expectOrder(seen);
    });

    it('delivers the records of a closed member to the others', async () => {
      const [topic, group, another] = [await given.topic(), freshGroup(), await given.another()];
      const first = given.member({ group, topics: [topic] }, another);
      await given.bus().publish(topic, numbered(10));
      await first.received(10);
      const second = given.member({ group, topics: [topic] });
      await another.close();
      await given.bus().publish(topic, numbered(10, 10));
      await expect.poll(() => new Set([...first.values(), ...second.values()]).size, waiting).toBe(20);
    });
  });

  describe('a handler that rejects', () => {
    it('gets the same records again, before any later one of that partition', async () => {
      const topic = await given.topic();
      const tried: string[] = [];
      const handle = async (batch: readonly BusRecord[]) => {
        tried.push(textOf(batch[0]!));
        if (tried.length <= 2) throw new TypeError('The handler fails in this test.');
      };
      const member = given.member({ group: freshGroup(), topics: [topic], handle });
      await publishInTurn(given.bus(), topic, [message('k', '0'), message('k', '1'), message('k', '2')]);
      await member.received(3);
      expect(tried.slice(0, 3)).toEqual(['0', '0', '0']);
      expect(member.values()).toEqual(['0', '1', '2']);
    });

    it('commits nothing: another member gets the records', async () => {
      const [topic, group] = [await given.topic(), freshGroup()];
      let tries = 0;
      const handle = async () => {
        tries += 1;
        throw new Error('The handler fails in this test.');
      };
      const failing = given.member({ group, topics: [topic], handle });
      await given.bus().publish(topic, [message('k', '0')]);
      await expect.poll(() => tries, waiting).toBeGreaterThan(0);
      await failing.stop();
      const member = given.member({ group, topics: [topic] });
      await member.received(1);
      expect(member.values()).toEqual(['0']);
    });
  });

  describe('the end of a subscription', () => {
    it('waits for the running handler, and its records are not delivered again', async () => {
      const [topic, group] = [await given.topic(), freshGroup()];
      const [started, finish] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
      const handle = async () => {
        started.resolve(undefined);
        await finish.promise;
      };
      const member = given.member({ group, topics: [topic], handle });
      await given.bus().publish(topic, [message('k', '0')]);
      await started.promise;
      let isEnded = false;
      const ended = member.stop().then(() => (isEnded = true));
      await given.bus().publish(topic, [message('k', '1')]);
      expect(isEnded).toBe(false);
      finish.resolve(undefined);
      await ended;
      expect(member.values()).toEqual(['0']);
      const next = given.member({ group, topics: [topic] });
      await next.received(1);
      expect(next.values()).toEqual(['1']);
    });

    it('comes when the bus is closed', async () => {
      const [topic, bus] = [await given.topic(), await given.another()];
      const member = given.member({ group: freshGroup(), topics: [topic] }, bus);
      await given.bus().publish(topic, [message('k', '0')]);
      await member.received(1);
      await bus.close();
      await expect(member.stop()).resolves.toBeUndefined();
    });

    it('comes at once when the signal was aborted before', async () => {
      const topic = await given.topic();
      const options = { group: freshGroup(), topics: [topic], signal: AbortSignal.abort() };
      await expect(given.bus().subscribe(options, async () => {})).resolves.toBeUndefined();
    });
  });
}
