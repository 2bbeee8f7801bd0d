/** The days of a totals query. */
import { totalsQuerySchema } from '@tollgate/gateway-api/http';
import { dayOf } from '@tollgate/views';
import type { z } from 'zod';

const dayMs = 86_400_000;
/** A leap year, and so any two dates a year apart at the most. */
const totalsDaysMax = 366;
/** Days shown if `from` is left out, including `to`. */
const totalsDaysDefault = 30;

export interface TotalsRange {
  /** YYYY-MM-DD in UTC, both inclusive. */
  from: string;
  to: string;
  currency?: string | undefined;
}

/** @param now milliseconds since the Unix epoch: `to` is today unless it is given */
export const parseTotalsRange = (query: z.input<typeof totalsQuerySchema>, now: number) =>
  totalsQuerySchema
    .transform(
      ({ to = dayOf(now), from = daysBefore(to, totalsDaysDefault - 1), currency }): TotalsRange => ({
        from,
        to,
        currency,
      }),
    )
    .refine(({ from, to }) => from <= to, { path: ['from'], message: 'must not be later than to' })
    .refine(({ from, to }) => from > daysBefore(to, totalsDaysMax), {
      path: ['from'],
      message: `must be at most ${totalsDaysMax - 1} days before to`,
    })
    .safeParse(query);

/** The first days of all have no days before them: then the first one. */
const daysBefore = (day: string, count: number): string =>
  Date.parse(day) < Date.parse('0001-01-01') + count * dayMs
    ? '0000-01-01'
    : dayOf(Date.parse(day) - count * dayMs);
