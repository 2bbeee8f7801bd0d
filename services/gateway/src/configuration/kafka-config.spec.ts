import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '@tollgate/service-kit';
import { describe, expect, it, test } from 'vitest';
import { kafkaEnvironmentSchema, toKafkaConfig, toTopicSpec } from './kafka-config.ts';

const configOf = (env: Record<string, string>) => toKafkaConfig(readConfig(kafkaEnvironmentSchema, env));
const brokers = { KAFKA_BROKERS: 'one:9092, two:9093' };

it('is undefined without brokers, with any other settings', () => {
  expect(configOf({ KAFKA_TLS: 'true' })).toBeUndefined();
});

it('accepts several brokers, with plain defaults', () => {
  expect(configOf(brokers)).toEqual({
    connection: { brokers: ['one:9092', 'two:9093'], clientId: 'tollgate' },
    topicPrefix: '',
    replication: 1,
    minInsyncReplicas: 1,
  });
});

it('keeps the password to itself', () => {
  const config = configOf({
    ...brokers,
    KAFKA_TLS: 'true',
    KAFKA_SASL_MECHANISM: 'scram-sha-512',
    KAFKA_SASL_USERNAME: 'gateway',
    KAFKA_SASL_PASSWORD: 'hush',
  });
  expect(config?.connection.sasl?.password.reveal()).toBe('hush');
  expect(JSON.stringify(config)).not.toContain('hush');
});

// It was sent in clear to any host that was named.
describe('a password without TLS', () => {
  const sasl = {
    KAFKA_SASL_MECHANISM: 'plain',
    KAFKA_SASL_USERNAME: 'gateway',
    KAFKA_SASL_PASSWORD: 'hush',
  };

  it.each(['plain', 'scram-sha-512'])('is refused beyond loopback (%s)', (mechanism) => {
    for (const KAFKA_BROKERS of ['one:9092', '127.0.0.1:9092,10.0.0.1:9092', '[2001:db8::1]:9092'])
      expect(() => configOf({ ...sasl, KAFKA_BROKERS, KAFKA_SASL_MECHANISM: mechanism })).toThrow(
        'KAFKA_SASL_PASSWORD would be sent without TLS',
      );
  });

  it('may go over loopback, and elsewhere if that is allowed by name', () => {
    for (const KAFKA_BROKERS of ['127.0.0.1:9092,localhost:9093', '[::1]:9092'])
      expect(configOf({ ...sasl, KAFKA_BROKERS })?.connection.sasl?.username).toBe('gateway');
    expect(configOf({ ...sasl, ...brokers, KAFKA_ALLOW_INSECURE: 'true' })?.connection.ssl).toBeUndefined();
  });
});

// With three copies a record was confirmed by one of them, and gone with it.
it.each([
  [1, 1],
  [2, 1],
  [3, 2],
  [5, 4],
])('of %i copies %i confirm a record unless configured otherwise', (replication, expected) => {
  const env = { ...brokers, KAFKA_REPLICATION: String(replication) };
  expect(configOf(env)?.minInsyncReplicas).toBe(expected);
  expect(configOf({ ...env, KAFKA_MIN_INSYNC_REPLICAS: '1' })?.minInsyncReplicas).toBe(1);
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

it('prefixes topics with KAFKA_TOPIC_PREFIX, and rejects names that Kafka would reject', () => {
  const config = configOf({ ...brokers, KAFKA_TOPIC_PREFIX: 'staging.' });
  if (config === undefined) throw new Error('there is no Kafka');
  const topic = { topic: 'orders', partitions: 1, retentionMs: 'forever', cleanup: 'delete' } as const;
  expect(toTopicSpec(topic, config)).toMatchObject({ topic: 'staging.orders', partitions: 1 });
  for (const prefix of ['a b', '-a', 'a/', 'x'.repeat(64)])
    expect(() => configOf({ ...brokers, KAFKA_TOPIC_PREFIX: prefix })).toThrow('KAFKA_TOPIC_PREFIX');
});
