/** A team's payments, refunds and payouts, day by day. */
import { toPublicTotals } from '@tollgate/views';
import { routes, addReadRoute, totalsQuerySchema } from '@tollgate/gateway-api/http';
import { dayMs, omitUndefined, sendErrors, toErrorEntries, utcDayOf } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { sendSums } from './ledger-routes.ts';
import { mayReadPayouts, type ReadDependencies } from './reading.ts';

export function registerTotalsRoutes(app: FastifyInstance, deps: ReadDependencies): void {
  const { index, clock } = deps;
  addReadRoute(app, deps, routes.listTotals, async ({ caller, query, reply }) => {
    const range = parseTotalsRange(query, clock.now());
    if (!range.success) return sendErrors(reply, 400, toErrorEntries(range.error));
    const { from, to, currency } = range.data;
    const { environment, team } = caller;
    const views = index.listTotals({ environment, team, from, to, ...omitUndefined({ currency }) });
    return sendSums(reply, () => ({
      dateFrom: from,
      dateTo: to,
      ...toPublicTotals(views, { withPayouts: mayReadPayouts(caller) }),
    }));
  });
}

/** The length of a leap year: covers any two dates at most a year apart. */
const totalsDaysMax = 366;
/** Days shown if the first one is left out, including the last. */
const totalsDaysDefault = 30;

interface TotalsRange {
  /** YYYY-MM-DD in UTC, both inclusive. */
  from: string;
  to: string;
  currency?: string | undefined;
}

type TotalsQuery = z.input<typeof totalsQuerySchema>;

/** @param now milliseconds since the Unix epoch: the default last day is today */
const parseTotalsRange = (query: TotalsQuery, now: number) => {
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
