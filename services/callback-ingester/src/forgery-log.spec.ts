import { type LogFields, silentLog } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { createForgeryLog } from './callback-ingester.ts';

it('logs at most one line a second, with the number of callbacks', async () => {
  const lines: LogFields[] = [];
  const clock = createFakeClock();
  const log = { ...silentLog, info: (fields: LogFields) => void lines.push(fields) };
  const forgeries = createForgeryLog({ clock, log });
  for (let each = 0; each < 1_000; each += 1) forgeries.note();
  await clock.advance(1_000);
  forgeries.note();
  expect(lines.map(({ count }) => count)).toEqual([1, 1_000]);
});
