import type { Clock } from '@tollgate/service-kit';
import type { Database } from './storage/database.ts';

const offsetSetting = 'clockOffsetMs';

/**
 * The service's own time, in milliseconds since the Unix epoch: the machine's clock plus a durable offset that a tester
 * can increase.
 */
export function createSandboxClock(clock: Pick<Clock, 'now'>, { connection }: Pick<Database, 'connection'>) {
  const get = connection.prepare('SELECT value FROM settings WHERE name = ?');
  const set = connection.prepare(
    'INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  let offsetMs = Number(get.get(offsetSetting)?.['value'] ?? 0);
  return {
    now: (): number => clock.now() + offsetMs,
    /** Runs inside a transaction. */
    advance: (byMs: number): void => {
      offsetMs += byMs;
      set.run(offsetSetting, String(offsetMs));
    },
  };
}
