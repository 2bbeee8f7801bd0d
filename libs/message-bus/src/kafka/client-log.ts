import type { Log, LogFields } from '@tollgate/service-kit';
import { logLevel, type LogEntry, type logCreator } from 'kafkajs';

const text = 'the Kafka client reports';
const codePattern = /\b(?:E[A-Z]{4,}|[A-Z]+(?:_[A-Z]+)+)\b/;

/**
 * What kafkajs says, as lines of ours. Its messages repeat addresses, stacks and payloads of others, so that only the
 * place, the error's code and the numbers are taken over.
 */
export function toLogCreator(log: Log): logCreator {
  return () => (entry) => {
    // It calls every try to connect an error; what comes of the tries is logged by those who wait for it.
    if (entry.level <= logLevel.WARN) log.warn(fieldsOf(entry), text);
    else log.debug(fieldsOf(entry), text);
  };
}

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
