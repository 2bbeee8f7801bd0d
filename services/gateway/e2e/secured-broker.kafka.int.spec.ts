/** A broker with TLS and a password: all traffic over it, and the errors when it refuses access. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { createKafkaMessageBus, ensureTopics } from '@tollgate/message-bus/kafka';
import { createLog, readConfig, systemClock, systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { kafkaEnvironmentSchema, toKafkaConfig } from '../src/configuration/kafka-config.ts';
import { expectPublishedOnce } from './kafka-topic.ts';
import { localBroker, stopBrokers } from './local-broker.ts';
import { type System, newDataDir, startSystem, stopEverything } from './system.ts';

const broker = localBroker({ isSecured: true });
const { brokers: plainBrokers, secured } = broker;
const settled = { timeoutMs: 60_000 };
const wrongPassword = 'planted-wrong-password';

beforeAll(() => broker.start(), 120_000);
afterAll(async () => {
  await stopEverything();
  await stopBrokers();
});

const environment = (changes: Record<string, string> = {}): Record<string, string> => ({
  KAFKA_BROKERS: secured.brokers,
  KAFKA_TLS: 'true',
  KAFKA_TLS_CA_FILE: secured.caFile,
  KAFKA_SASL_MECHANISM: 'scram-sha-512',
  KAFKA_SASL_USERNAME: 'tollgate',
  KAFKA_SASL_PASSWORD: secured.password(),
  ...changes,
});

/** An authority that has not signed the broker's certificate. */
function otherCaFile(): string {
  const file = join(newDataDir(), 'other-ca.pem');
  writeFileSync(file, rootCertificates[0] ?? '');
  return file;
}

/** A bus as the gateway opens it, and every line of its log. */
function givenBus(changes: Record<string, string> = {}) {
  const config = toKafkaConfig(readConfig(kafkaEnvironmentSchema, environment(changes)));
  if (config === undefined) throw new Error('there are brokers');
  const lines: string[] = [];
  const log = createLog('spec', 'debug', { write: (line) => void lines.push(line) });
  const connection = { ...config.connection, log, clock: systemClock };
  const bus = createKafkaMessageBus(connection);
  onTestFinished(() => bus.close());
  return { bus, connection, lines };
}

const numbers = ['0', '1', '2'];
const messages = numbers.map((text) => ({ key: 'k', value: Buffer.from(text), headers: {} }));
const textOf = ({ value }: { value: Uint8Array }) => Buffer.from(value).toString();

describe.each(['plain', 'scram-sha-256', 'scram-sha-512'])('with %s', (mechanism) => {
  it('topics are created, and records published and consumed', async () => {
    const { bus, connection, lines } = givenBus({ KAFKA_SASL_MECHANISM: mechanism });
    const topic = `secured-${systemIds.hex(6)}`;
    const spec = { topic, partitions: 1, replication: 1, minInsyncReplicas: 1 };
    await ensureTopics(connection, [{ ...spec, retentionMs: 'forever', cleanup: 'delete' }]);
    await bus.publish(topic, messages);
    const consumed: string[] = [];
    const done = new AbortController();
    await bus.subscribe({ group: topic, topics: [topic], signal: done.signal }, async (batch) => {
      consumed.push(...batch.map(textOf));
      if (consumed.length >= numbers.length) done.abort();
    });
    expect(consumed).toEqual(numbers);
    expect((await bus.lastPerPartition(topic)).map(textOf)).toEqual(['2']);
    expect(bus.isConnected()).toBe(true);
    expect(lines.join('\n')).not.toContain(secured.password());
  });

  it('another password is refused by its name, and shown nowhere', async () => {
    const { bus, lines } = givenBus({
      KAFKA_SASL_MECHANISM: mechanism,
      KAFKA_SASL_PASSWORD: wrongPassword,
    });
    const refused = await bus.publish('any', messages).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'bus_authentication_failed', retryable: false });
    expect(bus.isConnected()).toBe(false);
    await eventually(() => expect(lines.join('\n')).toContain('bus_authentication_failed'), settled);
    expect(lines.join('\n')).not.toContain(wrongPassword);
  });
});

describe('a gateway', () => {
  const readiness = async ({ quickstart }: System): Promise<unknown> =>
    (await request(`${quickstart.gatewayUrl}/readyz`)).body.json();

  it('publishes over it', { timeout: 120_000 }, async () => {
    const system = await startSystem({ env: environment() });
    const body = { product: 'Tea', amount: 1_250, currency: 'EUR', orderNumber: 'secured' };
    expect((await system.gateway('POST', '/api/v1/payments', { body })).statusCode).toBe(200);
    const { dataDir } = system;
    const records = await expectPublishedOnce({ dataDir, brokers: plainBrokers, timeoutMs: 60_000 });
    expect(records.length).toBeGreaterThanOrEqual(2);
    await eventually(async () => expect(await readiness(system)).toMatchObject({ degraded: [] }), settled);
    expect(system.output()).not.toContain(secured.password());
    await system.terminate();
  });

  it.each([
    ['another password', 'bus_authentication_failed', () => ({ KAFKA_SASL_PASSWORD: wrongPassword })],
    ['another authority', 'bus_certificate_refused', () => ({ KAFKA_TLS_CA_FILE: otherCaFile() })],
  ])(
    'with %s accepts payments, and reports the fault: %s',
    { timeout: 120_000 },
    async (_, code, changes) => {
      const system = await startSystem({ env: environment(changes()) });
      const body = { product: 'Tea', amount: 1_250, currency: 'EUR', orderNumber: 'refused' };
      expect((await system.gateway('POST', '/api/v1/payments', { body })).statusCode).toBe(200);
      await eventually(() => expect(system.output()).toContain(code), settled);
      expect(await readiness(system)).toMatchObject({ ready: true, degraded: ['message-bus'] });
      for (const password of [wrongPassword, secured.password()])
        expect(system.output()).not.toContain(password);
      await system.terminate();
    },
  );
});
