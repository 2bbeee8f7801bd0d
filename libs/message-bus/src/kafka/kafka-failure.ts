import { type Clock, within as inTime } from '@tollgate/service-kit';
import { BusUnavailable } from '../message-bus.ts';

/** Types of permanent Kafka errors, with our code and message. */
const lasting: Readonly<Record<string, readonly [string, string]>> = {
  UNKNOWN_TOPIC_OR_PARTITION: [
    'topic_missing',
    'The topic does not exist on the message bus: create it first.',
  ],
  INVALID_TOPIC_EXCEPTION: ['topic_invalid', 'Kafka rejects this topic name.'],
  TOPIC_AUTHORIZATION_FAILED: ['bus_forbidden', 'Kafka does not allow this client to use the topic.'],
  GROUP_AUTHORIZATION_FAILED: ['bus_forbidden', 'Kafka does not allow this client to use the group.'],
  CLUSTER_AUTHORIZATION_FAILED: ['bus_forbidden', 'Kafka does not allow this client to write idempotently.'],
  SASL_AUTHENTICATION_FAILED: [
    'bus_authentication_failed',
    'Kafka does not accept the user name or password.',
  ],
  CERTIFICATE_REFUSED: [
    'bus_certificate_refused',
    'The certificate of the Kafka broker is not trusted, or is for another name: check the authority that is trusted.',
  ],
  INVALID_REPLICATION_FACTOR: ['topic_not_created', 'There are fewer brokers than the replication factor.'],
  POLICY_VIOLATION: ['topic_not_created', 'A policy of the brokers forbids a topic like this.'],
  MESSAGE_TOO_LARGE: [
    'record_too_large',
    'The topic accepts smaller records only. Check its max.message.bytes.',
  ],
};

/** Node's codes of an invalid certificate, from those of OpenSSL. */
const certificateCodes =
  /^(?:CERT_|ERR_TLS_CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF)|HOSTNAME_MISMATCH)/;

/** The one place that classifies errors of kafkajs. Unclassified errors are transient. */
export function toBusUnavailable(error: unknown): BusUnavailable {
  if (error instanceof BusUnavailable) return error;
  const [code, message] = lasting[typeOf(error) ?? ''] ?? [];
  if (code !== undefined && message !== undefined)
    return new BusUnavailable(code, message, { retryable: false, cause: error });
  return new BusUnavailable('bus_unavailable', `Kafka did not confirm: ${kindOf(error)}.`, { cause: error });
}

/** The name of the innermost error by Node or Kafka, or else the client: for the log, which shows no causes. */
function kindOf(error: unknown): string {
  const inner = chainOf(error).at(-1);
  if (inner === undefined) return 'unknown error';
  const { code, type, name } = inner as Error & { code?: unknown; type?: unknown };
  return [code, type].find((each) => typeof each === 'string') ?? name;
}

/** Between two tries while brokers agree on something, milliseconds. */
const agreementPauseMs = 50;

const ofMovingLeaders = ['LEADER_NOT_AVAILABLE', 'NOT_LEADER_FOR_PARTITION'];
const ofMovingCoordinators = [
  'GROUP_LOAD_IN_PROGRESS',
  'GROUP_COORDINATOR_NOT_AVAILABLE',
  'NOT_COORDINATOR_FOR_GROUP',
];

/** A partition's leader is being found, or has changed. */
export const isLeaderMoving = (error: unknown): boolean => ofMovingLeaders.includes(typeOf(error) ?? '');

/** A group's coordinator is being found, has changed, or is loading: this includes the first group ever. */
export const isCoordinatorMoving = (error: unknown): boolean =>
  ofMovingCoordinators.includes(typeOf(error) ?? '');

/** For a topic that was just created: not every broker knows it, or its leader. */
export const isYoungTopic = (error: unknown): boolean =>
  isLeaderMoving(error) || typeOf(error) === 'UNKNOWN_TOPIC_OR_PARTITION';

/** Repeats a read for as long as it fails by `isPassing`: the caller has the deadline, and cuts the connection. */
export async function persistently<Result>(
  clock: Clock,
  work: () => Promise<Result>,
  isPassing: (error: unknown) => boolean,
): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isPassing(error)) throw error;
    }
    await clock.sleep(agreementPauseMs);
  }
}

function typeOf(error: unknown): string | undefined {
  for (const each of chainOf(error)) {
    if (each.name === 'KafkaJSSASLAuthenticationError') return 'SASL_AUTHENTICATION_FAILED';
    if ('code' in each && typeof each.code === 'string' && certificateCodes.test(each.code))
      return 'CERTIFICATE_REFUSED';
    if ('type' in each && typeof each.type === 'string' && isNamed(each.type)) return each.type;
  }
  return undefined;
}

/** The error and its causes, outermost first. */
function chainOf(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let each = error; each instanceof Error && chain.length < 5; each = beneath(each)) chain.push(each);
  return chain;
}

const isNamed = (type: string) =>
  type in lasting || ofMovingLeaders.includes(type) || ofMovingCoordinators.includes(type);

/** kafkajs reports several topics at once by an error that holds one for each. */
function beneath(error: Error): unknown {
  return 'errors' in error && Array.isArray(error.errors) ? error.errors[0] : error.cause;
}

/** @throws BusUnavailable when `work` has not ended in time */
export const within = <Result>(clock: Clock, timeoutMs: number, work: Promise<Result>): Promise<Result> =>
  inTime(clock, timeoutMs, {
    work,
    tooLate: () => new BusUnavailable('bus_unavailable', `Kafka did not confirm within ${timeoutMs} ms.`),
  });
