import { type Clock, within as inTime } from '@tollgate/service-kit';
import { BusUnavailable } from '../errors.ts';

/** Types of Kafka's errors that no retry fixes, with the code and the message that we give them. */
const lasting: Readonly<Record<string, readonly [string, string]>> = {
  UNKNOWN_TOPIC_OR_PARTITION: [
    'topic_missing',
    'The topic does not exist on the message bus: create it first.',
  ],
  INVALID_TOPIC_EXCEPTION: ['topic_invalid', 'Kafka does not allow this name of a topic.'],
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
  INVALID_REPLICATION_FACTOR: [
    'topic_not_created',
    'There are fewer brokers than copies are wanted of each record.',
  ],
  POLICY_VIOLATION: ['topic_not_created', 'A policy of the brokers forbids a topic like this.'],
  MESSAGE_TOO_LARGE: [
    'record_too_large',
    'The topic takes smaller records only: check its max.message.bytes.',
  ],
};

/** Node's codes of a certificate that does not hold, out of those of OpenSSL. */
const certificateCodes =
  /^(?:CERT_|ERR_TLS_CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_(?:GET_ISSUER|VERIFY_LEAF)|HOSTNAME_MISMATCH)/;

/** The one place where errors of kafkajs are classified. Unclassified errors are transient. */
export function toBusUnavailable(error: unknown): BusUnavailable {
  if (error instanceof BusUnavailable) return error;
  const [code, message] = lasting[typeOf(error) ?? ''] ?? [];
  if (code !== undefined && message !== undefined)
    return new BusUnavailable(code, message, { retryable: false, cause: error });
  return new BusUnavailable('bus_unavailable', 'Kafka did not confirm.', { cause: error });
}

/** Of a topic that has just been created: not every broker knows it, or who leads it. */
export const isYoungTopic = (error: unknown): boolean =>
  ['UNKNOWN_TOPIC_OR_PARTITION', 'LEADER_NOT_AVAILABLE'].includes(typeOf(error) ?? '');

function typeOf(error: unknown): string | undefined {
  for (let each = error, depth = 0; each instanceof Error && depth < 5; each = beneath(each), depth += 1) {
    if (each.name === 'KafkaJSSASLAuthenticationError') return 'SASL_AUTHENTICATION_FAILED';
    if ('code' in each && typeof each.code === 'string' && certificateCodes.test(each.code))
      return 'CERTIFICATE_REFUSED';
    if ('type' in each && typeof each.type === 'string' && isNamed(each.type)) return each.type;
  }
  return undefined;
}

const isNamed = (type: string) => type in lasting || type === 'LEADER_NOT_AVAILABLE';

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
