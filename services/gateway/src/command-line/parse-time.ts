/** How commands read times: a day is in UTC, and an instant names its zone, so that no machine's zone changes a result. */
import { InvalidArgumentError } from 'commander';
import { z } from 'zod';

const daySchema = z.iso.date();
const instantSchema = z.union([
  daySchema,
  z.iso.datetime({ offset: true }),
  // To the minute.
  z.iso.datetime({ offset: true, precision: -1 }),
]);

/** As in `2026-11-23`. */
export function parseDay(text: string): string {
  if (daySchema.safeParse(text).success) return text;
  throw new InvalidArgumentError('It must be a day that exists, written YYYY-MM-DD.');
}

/** As in `2026-11-23` or `2026-11-23T08:00Z`. @returns milliseconds since the Unix epoch */
export function parseInstant(text: string): number {
  if (instantSchema.safeParse(text).success) return Date.parse(text);
  throw new InvalidArgumentError(
    'It must be a day in UTC such as 2026-11-23, or a time with its zone such as 2026-11-23T08:00Z.',
  );
}
