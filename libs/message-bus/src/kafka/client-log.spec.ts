import { createLog } from '@tollgate/service-kit';
import { logLevel, type LogEntry } from 'kafkajs';
import { expect, it } from 'vitest';
import { toLogCreator } from './connection.ts';

function linesOf(level: logLevel, content: Record<string, unknown>): Record<string, unknown>[] {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('spec', 'debug', { write: (line) => void lines.push(JSON.parse(line)) });
  const entry: LogEntry = {
    namespace: 'Connection',
    level,
    label: 'ERROR',
    log: { timestamp: '', message: '', ...content },
  };
  toLogCreator(log)(logLevel.INFO)(entry);
  return lines;
}

it('copies the place, the code and the numbers of a kafkajs message', () => {
  const content = {
    message: 'Offset out of range: ECONNREFUSED',
    topic: 't',
    partition: 3,
    retryCount: 1,
    retryTime: 200,
  };
  expect(linesOf(logLevel.ERROR, content)).toMatchObject([
    {
      level: 40,
      msg: 'the Kafka client reports: Offset out of range',
      operation: 'kafkajs Connection',
      code: 'ECONNREFUSED',
      topic: 't',
      partition: 3,
      attemptNumber: 1,
      waitMs: 200,
    },
  ]);
  expect(linesOf(logLevel.INFO, content)).toMatchObject([{ level: 20 }]);
});

// A broker that was unavailable for half a minute caused 160 log lines, and a first start 26.
it.each([
  'Connection error: connect ECONNREFUSED',
  'Failed to connect to broker',
  'Crash: planted',
  'planted',
])('logs %s for debugging only, since the caller logs the outcome', (message) => {
  expect(linesOf(logLevel.ERROR, { message })).toMatchObject([{ level: 20 }]);
});

it('never shows quoted text of kafkajs', () => {
  const planted = 'planted-4392963203551251';
  const content = {
    message: planted,
    error: new Error(planted),
    stack: planted,
    payload: { planted },
    broker: planted,
  };
  expect(JSON.stringify(linesOf(logLevel.ERROR, content))).not.toContain('planted');
});
