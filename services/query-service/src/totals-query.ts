/** The days of a totals query. */
import { dayMs, utcDayOf } from '@tollgate/service-kit';
import { totalsQuerySchema } from '@tollgate/gateway-api/http';
import type { z } from 'zod';

/** The length of a leap year: covers any two dates at most a year apart. */
const totalsDaysMax = 366;
/** Days shown if the first one is left out, including the last. */
const totalsDaysDefault = 30;

export interface TotalsRange {
  /** YYYY-MM-DD in UTC, both inclusive. */
  from: string;
  to: string;
  currency?: string | undefined;
}

type TotalsQuery = z.input<typeof totalsQuerySchema>;

/** @param now milliseconds since the Unix epoch: the default last day is today */
export const parseTotalsRange = (query: TotalsQuery, now: number) => {
  const path = ['dateFrom'];
  return totalsQuerySchema
    .transform(({ dateFrom, dateTo, currency }): TotalsRange => {
      const to = dateTo ?? utcDayOf(now);
      return { from: dateFrom ?? daysBefore(to, totalsDaysDefault - 1), to, currency };
    })
    .refine(({ from, to }) => from <= to, { path, message: 'must not be later than the last day' })
    .refine(({ from, to }) => from > daysBefore(to, totalsDaysMax), {
      path,
      message: `must be at most ${totalsDaysMax - 1} days before the last day`,
    })
    .safeParse(query);
};

/** The first days of all have no days before them: then the first one. */
const daysBefore = (day: string, count: number): string =>
  Date.parse(day) < Date.parse('0001-01-01') + count * dayMs
    ? '0000-01-01'
    : utcDayOf(Date.parse(day) - count * dayMs);
