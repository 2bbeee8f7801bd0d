import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '@tollgate/service-kit';
import { describe, expect, it, test } from 'vitest';
import { kafkaEnvironmentSchema, toKafkaConfig, toTopicSpec } from './kafka-config.ts';

const configOf = (env: Record<string, string>) => toKafkaConfig(readConfig(kafkaEnvironmentSchema, env));
const brokers = { KAFKA_BROKERS: 'one:9092, two:9093' };

it('is nothing without brokers, whatever else is set', () => {
  expect(configOf({ KAFKA_TLS: 'true' })).toBeUndefined();
});

it('takes several brokers, and plain defaults', () => {
  expect(configOf(brokers)).toEqual({
    connection: { brokers: ['one:9092', 'two:9093'], clientId: 'tollgate' },
    ...{ topicPrefix: '', replication: 1, minInsyncReplicas: 1 },
  });
});

it('keeps the password to itself', () => {
  const config = configOf({
    ...brokers,
    ...{ KAFKA_SASL_MECHANISM: 'scram-sha-512', KAFKA_SASL_USERNAME: 'gateway', KAFKA_SASL_PASSWORD: 'hush' },
  });
  expect(config?.connection.sasl?.password.reveal()).toBe('hush');
  expect(JSON.stringify(config)).not.toContain('hush');
});

it('trusts the authority of a file', () => {
  const file = join(tmpdir(), 'tollgate-kafka-ca.pem');
  writeFileSync(file, 'an authority');
  const config = configOf({ ...brokers, KAFKA_TLS: 'true', KAFKA_TLS_CA_FILE: file });
  expect(config?.connection.ssl).toEqual({ ca: 'an authority' });
  expect(configOf({ ...brokers, KAFKA_TLS: 'true' })?.connection.ssl).toBe(true);
});

describe('a wrong setting is named', () => {
  test.each([
    [{ KAFKA_BROKERS: 'one' }, 'KAFKA_BROKERS'],
    [{ KAFKA_BROKERS: '' }, undefined],
    [{ ...brokers, KAFKA_TLS: 'yes' }, 'KAFKA_TLS'],
    [{ ...brokers, KAFKA_TLS_CA_FILE: '/nowhere' }, 'KAFKA_TLS_CA_FILE'],
    [{ ...brokers, KAFKA_TLS: 'true', KAFKA_TLS_CA_FILE: '/nowhere' }, 'KAFKA_TLS_CA_FILE'],
    [{ ...brokers, KAFKA_SASL_USERNAME: 'gateway' }, 'KAFKA_SASL_MECHANISM'],
    [{ ...brokers, KAFKA_SASL_MECHANISM: 'gssapi' }, 'KAFKA_SASL_MECHANISM'],
    [{ ...brokers, KAFKA_REPLICATION: '0' }, 'KAFKA_REPLICATION'],
  ])('%j: %s', (env, variable) => {
    if (variable === undefined) expect(configOf(env as Record<string, string>)).toBeUndefined();
    else expect(() => configOf(env as Record<string, string>)).toThrow(variable);
  });
});

it('begins the names of topics with KAFKA_TOPIC_PREFIX, and takes none that Kafka would not', () => {
  const config = configOf({ ...brokers, KAFKA_TOPIC_PREFIX: 'staging.' });
  if (config === undefined) throw new Error('there is no Kafka');
  const topic = { topic: 'orders', partitions: 1, retentionMs: 'forever', cleanup: 'delete' } as const;
  expect(toTopicSpec(topic, config)).toMatchObject({ topic: 'staging.orders', partitions: 1 });
  for (const prefix of ['a b', '-a', 'a/', 'x'.repeat(64)])
    expect(() => configOf({ ...brokers, KAFKA_TOPIC_PREFIX: prefix })).toThrow('KAFKA_TOPIC_PREFIX');
});
