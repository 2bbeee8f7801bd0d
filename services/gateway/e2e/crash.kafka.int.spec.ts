/** `kill -9` of a gateway on Kafka, at any moment under load: it resumes where it stopped, on the topics, too. */
import { eventually } from '@tollgate/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CreationLoad, expectAllThere, startLoad } from './kafka-load.ts';
import { expectPublishedOnce, readerName } from './kafka-topic.ts';
import { localBroker, stopBrokers } from './local-broker.ts';
import { type System, startSystem, stopEverything } from './system.ts';

const rounds = 2;
/** Creations before a kill at least, and up to how many more. */
const creationsMin = 30;
const creationsMore = 40;
const times = {
  PROVIDER_CALL_DEADLINE_MS: '1000',
  PROVIDER_SEND_WITHIN_MS: '1000',
  PROVIDER_QUIET_MS: '500',
};

const broker = localBroker();
const { brokers } = broker;

beforeAll(() => broker.start(), 120_000);
afterAll(async () => {
  await stopEverything();
  await stopBrokers();
}, 60_000);

it(
  `killed at random under load, twice: each event is on its topic once, in order (read with ${readerName})`,
  { timeout: 300_000 },
  async () => {
    let system: System = await startSystem({ env: { KAFKA_BROKERS: brokers, ...times } });
    const load: CreationLoad = startLoad(() => [system], 'order');
    for (let round = 1; round <= rounds; round += 1) {
      const enough = load.tokens.size + creationsMin + Math.floor(Math.random() * creationsMore);
      await eventually(() => expect(load.tokens.size).toBeGreaterThanOrEqual(enough), { timeoutMs: 60_000 });
      const setbacks = load.setbacks;
      await system.kill();
      // Nobody starts it again before it was missed, or nothing might be cut off.
      await eventually(() => expect(load.setbacks).toBeGreaterThan(setbacks), { timeoutMs: 60_000 });
      system = await system.restart();
    }
    await load.end();
    await expectAllThere(system, [load]);
    await expectPublishedOnce({ dataDir: system.dataDir, brokers, timeoutMs: 60_000 });
  },
);
