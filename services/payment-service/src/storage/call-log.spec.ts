import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { callsKept, createCallLog } from './call-log.ts';
import { migrate } from './schema.ts';

function givenLog() {
  const connection = new DatabaseSync(':memory:');
  migrate(connection);
  connection.exec("INSERT INTO merchants (name) VALUES ('demo')");
  return { connection, calls: createCallLog(connection) };
}

describe('the log of calls', () => {
  it('keeps the last ten thousand calls without an effect, separately from calls that moved money', () => {
    const { calls, connection } = givenLog();
    const total = callsKept + 1_234;
    connection.exec('BEGIN');
    calls.add({ at: 0, merchantId: 1, operation: 'create', effect: 'created', answer: 'lost_reply' });
    for (let at = 1; at <= total; at += 1)
      calls.add({ at, merchantId: 1, operation: at % 2 ? 'get' : 'create', effect: 'none', answer: '200' });
    connection.exec('COMMIT');
    const [creation, ...reads] = calls.list(1, undefined);
    expect(creation).toMatchObject({ operation: 'create', effect: 'created' });
    expect(reads.length).toBeGreaterThanOrEqual(callsKept);
    expect(reads.length).toBeLessThan(callsKept + 500);
    expect(reads.map(({ at }) => at)).toEqual(reads.map((_, index) => total - reads.length + 1 + index));
  });
});
