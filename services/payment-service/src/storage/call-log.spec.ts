import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { callsKept, createCallLog } from './call-log.ts';
import { migrate } from './schema.ts';

describe('the log of calls', () => {
  it('keeps the last ten thousand', () => {
    const connection = new DatabaseSync(':memory:');
    migrate(connection);
    connection.exec("INSERT INTO merchants (name) VALUES ('demo')");
    const calls = createCallLog(connection);
    const total = callsKept + 1_234;
    connection.exec('BEGIN');
    for (let at = 1; at <= total; at += 1)
      calls.add({ at, merchantId: 1, operation: 'get', effect: 'none', answer: '200' });
    connection.exec('COMMIT');
    const kept = calls.list(1, undefined);
    expect(kept).toHaveLength(callsKept);
    expect([kept[0]?.at, kept.at(-1)?.at]).toEqual([total - callsKept + 1, total]);
    const stored = connection.prepare('SELECT count(*) AS count FROM calls').get()?.['count'];
    expect(stored).toBeLessThan(callsKept + 500);
  });
});
