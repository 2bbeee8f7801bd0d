import type { DatabaseSync } from 'node:sqlite';

/** Single values that outlive a restart. `set` runs inside a transaction. */
export interface SettingsTable {
  get(name: string): string | undefined;
  set(name: string, value: string): void;
}

export function createSettingsTable(connection: DatabaseSync): SettingsTable {
  const get = connection.prepare('SELECT value FROM settings WHERE name = ?');
  const set = connection.prepare(
    'INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
  );
  return {
    get: (name) => {
      const value = get.get(name)?.['value'];
      return value === undefined ? undefined : String(value);
    },
    set: (name, value) => {
      set.run(name, value);
    },
  };
}
