import type { Log, LogFields } from '@tollgate/service-kit';
import { logLevel, type LogEntry, type logCreator } from 'kafkajs';

const text = 'the Kafka client reports';
const codePattern = /\b(?:E[A-Z]{4,}|[A-Z]+(?:_[A-Z]+)+)\b/;

/** With what its messages begin, before they quote what may be anything. */
const ownWords = [
  ...['Connection error', 'Connection timeout', 'Failed to connect', 'Response without match', 'Response'],
  ...['Failed to send messages', 'Error when calling eachBatch', 'Error when calling eachMessage'],
  ...['Crash', 'Restarting the consumer', 'The group is rebalancing', 'Offset out of range'],
  ...['The coordinator is not aware of this member', 'Consumer is not aware of all assigned partitions'],
  ...['Consumer group received unsubscribed topics', 'Caught error when stopping the consumer'],
  ...['Caught error when disconnecting the consumer', 'Failed to execute listener'],
  ...['Could not create topics', 'Could not delete topics', 'Could not alter configs'],
  ...['Could not describe configs', 'Could not reassign partitions'],
];

/** Nobody else reports these. All others are tries, by the dozen while a broker is away; their callers log what comes of them. */
const unreported = [
  ...['Offset out of range', 'Failed to execute listener', 'Consumer group received unsubscribed topics'],
];

function textOf(message: unknown): string {
  const said = ownWords.find((words) => typeof message === 'string' && message.startsWith(words));
  return said === undefined ? text : `${text}: ${said}`;
}

/**
 * What kafkajs says, as lines of ours. Its messages repeat addresses, stacks and payloads of others, so that only its own
 * words, the place, the error's code and the numbers are taken over.
 */
export function toLogCreator(log: Log): logCreator {
  return () => (entry) => {
    const said = textOf(entry.log.message);
    if (isUnreported(entry)) log.warn(fieldsOf(entry), said);
    else log.debug(fieldsOf(entry), said);
  };
}

const isUnreported = ({ level, log: { message } }: LogEntry): boolean =>
  level <= logLevel.WARN && unreported.some((words) => message.startsWith(words));

function fieldsOf({ namespace, log: content }: LogEntry): LogFields {
  const { message, error, topic, partition, retryCount, retryTime } = content as Record<string, unknown>;
  const code = codePattern.exec([error, message].filter((each) => typeof each === 'string').join(' '))?.[0];
  return {
    operation: `kafkajs ${namespace}`,
    ...(code === undefined ? {} : { code }),
    ...(typeof topic === 'string' ? { topic } : {}),
    ...(typeof partition === 'number' ? { partition } : {}),
    ...(typeof retryCount === 'number' ? { attemptNumber: retryCount } : {}),
    ...(typeof retryTime === 'number' ? { waitMs: retryTime } : {}),
  };
}
