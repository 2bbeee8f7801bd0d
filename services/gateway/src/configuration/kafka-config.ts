/** Configuration of Kafka. */
import type { GatewayTopic } from '@tollgate/gateway-api';
import type { KafkaConnectionOptions, TopicSpec } from '@tollgate/message-bus';
import {
  booleanSchema,
  commaSeparatedSchema,
  isLoopbackAddress,
  omitUndefined,
  secretSchema,
  wholeNumberSchema,
  wrongVariable,
} from '@tollgate/service-kit';
import { z } from 'zod';
import { readNamed } from './tls.ts';

const addressRule = 'must be host:port, or several of them separated by commas';
const brokersSchema = commaSeparatedSchema.pipe(
  z
    .array(z.string().regex(/^[^\s:,]+:\d{1,5}$|^\[[0-9a-fA-F:]+\]:\d{1,5}$/, addressRule))
    .min(1, addressRule),
);

const copies = wholeNumberSchema({ of: 'copies', min: 1, max: 32 });

const mechanisms = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;

/** The environment variables of Kafka. Without `KAFKA_BROKERS` the bus is embedded, and the others have no effect. */
export const kafkaEnvironmentSchema = z.object({
  KAFKA_BROKERS: brokersSchema
    .optional()
    .describe('Bootstrap brokers of Kafka. If unset, the message bus is embedded in the event store.'),
  KAFKA_CLIENT_ID: z.string().default('tollgate').describe("Client id in the brokers' logs and quotas."),
  KAFKA_TLS: booleanSchema.describe('Use TLS to the brokers.'),
  KAFKA_TLS_CA_FILE: z
    .string()
    .optional()
    .describe('PEM file of the certificate authority of the brokers. It replaces the default authorities.'),
  KAFKA_SASL_MECHANISM: z
    .enum(mechanisms, `must be one of ${mechanisms.join(', ')}`)
    .optional()
    .describe('SASL mechanism.'),
  KAFKA_SASL_USERNAME: z.string().optional().describe('SASL user name.'),
  KAFKA_SASL_PASSWORD: secretSchema.describe('SASL password.'),
  KAFKA_ALLOW_INSECURE: booleanSchema.describe('Allow SASL without TLS to brokers other than loopback.'),
  KAFKA_TOPIC_PREFIX: z
    .string()
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/,
      'must be 1 to 63 letters, digits, dots, hyphens and underscores',
    )
    .default('')
    .describe('Prefix of topic and group names, for installations that share a cluster.'),
  KAFKA_REPLICATION: copies.default(1).describe('Replication factor of topics that Tollgate creates.'),
  KAFKA_MIN_INSYNC_REPLICAS: copies.optional().meta({
    description: '`min.insync.replicas` of topics that Tollgate creates.',
    unset: 'all but one, at least 1',
  }),
});

export interface KafkaConfig {
  connection: Omit<KafkaConnectionOptions, 'log'>;
  /** Empty if the topics have the names that they are documented by. */
  topicPrefix: string;
  replication: number;
  minInsyncReplicas: number;
}

/** With several copies one may be missing; a record confirmed by a single one is lost with its disk. */
export const minInsyncReplicasOf = (replication: number): number => Math.max(1, replication - 1);

/** Undefined if the bus is embedded. @throws StartupError that names the variable that is wrong */
export function toKafkaConfig(env: z.infer<typeof kafkaEnvironmentSchema>): KafkaConfig | undefined {
  const { KAFKA_BROKERS: brokers } = env;
  if (brokers === undefined) return undefined;
  const ssl = toTls(env);
  const sasl = toSasl(env);
  if (sasl !== undefined && ssl === undefined) refuseOpenPassword(env, brokers);
  return {
    connection: { brokers, clientId: env.KAFKA_CLIENT_ID, ...omitUndefined({ ssl, sasl }) },
    topicPrefix: env.KAFKA_TOPIC_PREFIX,
    replication: env.KAFKA_REPLICATION,
    minInsyncReplicas: env.KAFKA_MIN_INSYNC_REPLICAS ?? minInsyncReplicasOf(env.KAFKA_REPLICATION),
  };
}

type Environment = z.infer<typeof kafkaEnvironmentSchema>;

function toTls({ KAFKA_TLS: tls, KAFKA_TLS_CA_FILE: caFile }: Environment): KafkaConnectionOptions['ssl'] {
  if (caFile === undefined) return tls ? true : undefined;
  if (!tls)
    throw wrongVariable('KAFKA_TLS_CA_FILE is set, and KAFKA_TLS is not true: nothing would be encrypted');
  return { ca: readNamed('KAFKA_TLS_CA_FILE', caFile, 'config_invalid') };
}

function toSasl(env: Environment): KafkaConnectionOptions['sasl'] {
  const { KAFKA_SASL_MECHANISM: mechanism, KAFKA_SASL_USERNAME: username } = env;
  const { KAFKA_SASL_PASSWORD: password } = env;
  if (mechanism === undefined && username === undefined && password === undefined) return undefined;
  if (mechanism === undefined || username === undefined || password === undefined)
    throw wrongVariable(
      'KAFKA_SASL_MECHANISM, KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD must be set all or not at all',
    );
  return { mechanism, username, password };
}

/** Brokers advertise others, but loopback is for tests and tunnels. */
function refuseOpenPassword(
  { KAFKA_ALLOW_INSECURE: allowed }: Environment,
  brokers: readonly string[],
): void {
  const staysHere = brokers.every((broker) => isLoopbackAddress(broker.slice(0, broker.lastIndexOf(':'))));
  if (allowed || staysHere) return;
  throw wrongVariable(
    'KAFKA_SASL_PASSWORD would be sent without TLS: set KAFKA_TLS=true, or KAFKA_ALLOW_INSECURE=true',
  );
}

/** A topic of ours with its settings on this cluster. */
export const toTopicSpec = (
  topic: GatewayTopic,
  {
    topicPrefix,
    replication,
    minInsyncReplicas,
  }: Pick<KafkaConfig, 'topicPrefix' | 'replication' | 'minInsyncReplicas'>,
): TopicSpec => ({ ...topic, topic: `${topicPrefix}${topic.topic}`, replication, minInsyncReplicas });
