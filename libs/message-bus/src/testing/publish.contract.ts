import { describe, expect, it } from 'vitest';
import { freshGroup, type Buses } from './message-bus.contract.ts';
import { message, textOf } from './member-probe.ts';

const offsetsGrow = (offsets: readonly string[]) =>
  offsets.every((offset, index) => index === 0 || BigInt(offset) > BigInt(offsets[index - 1]!));

export function describePublish(given: Buses): void {
  describe('publish', () => {
    it('keeps key, value and headers unchanged, even if the value is not text', async () => {
      const topic = await given.topic();
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
      const sent = [
        { key: 'a', value: bytes, headers: { ce_type: 'tollgate.payment.approved.v1' } },
        { key: 'é€😀', value: Buffer.from('{"größe":"\u0000"}'), headers: {} },
        { key: '', value: new Uint8Array(), headers: { empty: '' } },
      ];
      await given.bus().publish(topic, sent);
      const member = given.member({ group: freshGroup(), topics: [topic] });
      await member.received(sent.length);
      for (const { key, value, headers } of sent) {
        const record = member.records.find((each) => each.key === key);
        expect(record).toMatchObject({ topic, headers });
        expect(Buffer.from(record?.value ?? []).equals(value)).toBe(true);
      }
    });

    it('assigns growing offsets, and the time of receipt', async () => {
      const topic = await given.topic();
      for (let count = 0; count < 5; count += 1)
        await given.bus().publish(topic, [message('k', String(count))]);
      const member = given.member({ group: freshGroup(), topics: [topic] });
      await member.received(5);
      expect(offsetsGrow(member.records.map((record) => record.offset))).toBe(true);
      // The bus may be another machine: its clock is only roughly ours.
      for (const { timestamp } of member.records)
        expect(Math.abs(timestamp - Date.now())).toBeLessThan(60_000);
    });

    it('accepts many messages concurrently', async () => {
      const topic = await given.topic();
      const count = 2_500;
      const messages = Array.from({ length: count }, (_, index) => message(`k${index % 50}`, String(index)));
      await given.bus().publish(topic, messages);
      const member = given.member({ group: freshGroup(), topics: [topic] });
      await member.received(count);
      expect(new Set(member.values()).size).toBe(count);
      for (const ofKey of Map.groupBy(member.records, (record) => record.key).values()) {
        const values = ofKey.map((record) => Number(textOf(record)));
        expect(values).toEqual(values.toSorted((one, other) => one - other));
      }
    });

    it('of no message does nothing', async () => {
      const topic = await given.topic();
      await given.bus().publish(topic, []);
      await given.bus().publish(topic, [message('k', 'first')]);
      const member = given.member({ group: freshGroup(), topics: [topic] });
      await member.received(1);
      expect(member.values()).toEqual(['first']);
    });

    it('puts all messages of a key into one partition, whichever process publishes them', async () => {
      const [topic, another] = [await given.topic(), await given.another()];
      const keys = Array.from({ length: 20 }, (_, index) => `pay_${index}`);
      for (const bus of [given.bus(), another])
        await bus.publish(
          topic,
          keys.map((key) => message(key, 'x')),
        );
      const member = given.member({ group: freshGroup(), topics: [topic] });
      await member.received(2 * keys.length);
      for (const ofKey of Map.groupBy(member.records, ({ key }) => key).values())
        expect(new Set(ofKey.map(({ partition }) => partition)).size).toBe(1);
    });

    it('is refused after close', async () => {
      const [topic, bus] = [await given.topic(), await given.another()];
      await bus.close();
      await expect(bus.publish(topic, [message('k', 'v')])).rejects.toMatchObject({ code: 'bus_closed' });
    });
  });
}
