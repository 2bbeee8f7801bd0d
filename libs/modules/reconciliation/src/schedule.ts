/** Chooses the next day of an account to compare. */
import { dayMs, utcDayOf } from '@tollgate/service-kit';
import type { ReconciliationSummary } from './reconciliation.ts';

const minute = 60_000;
const hour = 60 * minute;

/** @default days after which a day is compared again */
export const reconciledAfterDaysDefault: readonly number[] = [1, 2, 7, 30];

/** Between two runs of today, and before an incomplete day is tried again. */
const repeatMs = hour;
/** After midnight: calls announced before it have ended by then. */
const settleMs = 15 * minute;
/** Maximum days made up for after an outage. */
const madeUpDaysMax = 31;

/** The runs of one day, times in milliseconds since the Unix epoch. */
interface ReconciledDay {
  /** End of the latest run, with any outcome: one may have tried for hours, and the other days are due meanwhile. */
  attemptedAt: number;
  /** Start of the latest complete run. */
  completedAt?: number;
  /** Differences found by the latest run. */
  differences: number;
}
/** By `YYYY-MM-DD`. */
export type ReconciledDays = ReadonlyMap<string, ReconciledDay>;

const startOf = (day: string): number => Date.parse(day);
const endOf = (day: string): number => startOf(day) + dayMs;
const dayBefore = (day: string, days: number): string => utcDayOf(startOf(day) - days * dayMs);

/** A dry run has changed nothing, and does not count. */
export function afterRun(
  days: ReconciledDays,
  run: Pick<ReconciliationSummary, 'day' | 'isDryRun' | 'outcome' | 'startedAt' | 'endedAt'>,
  differences: number,
): ReconciledDays {
  if (run.isDryRun || run.outcome === 'account_unknown') return days;
  const { completedAt } = days.get(run.day) ?? {};
  const latest = run.outcome === 'complete' ? run.startedAt : completedAt;
  const known = { attemptedAt: run.endedAt, differences };
  return new Map([
    ...days,
    [run.day, { ...known, ...(latest === undefined ? {} : { completedAt: latest }) }],
  ]);
}

const firstOf = (days: ReconciledDays): string | undefined => [...days.keys()].sort()[0];

const isOver = (days: ReconciledDays, day: string): boolean =>
  (days.get(day)?.completedAt ?? 0) >= endOf(day);

/**
 * The day that is due, undefined if none is. Today hourly; past days once, and again after each of `afterDays`. Days before the
 * first run are compared only on request.
 */
export function dueDay(
  days: ReconciledDays,
  now: number,
  afterDays: readonly number[] = reconciledAfterDaysDefault,
): string | undefined {
  const today = utcDayOf(now);
  const first = firstOf(days) ?? today;
  // An attempt hours in the future was made by a clock that ran ahead, and delays nothing.
  const mayBegin = (day: string) => Math.abs(now - (days.get(day)?.attemptedAt ?? 0)) >= repeatMs;
  if (mayBegin(today)) return today;
  if (now - startOf(today) < settleMs) return undefined;
  const again = afterDays
    .map((count) => dayBefore(today, count))
    .filter((day) => (days.get(day)?.completedAt ?? 0) < startOf(today));
  const missed = daysBefore(today, first).filter((day) => !isOver(days, day));
  return [...again, ...missed].find((day) => day >= first && mayBegin(day));
}

/** The latest first, and none before `first`. */
function daysBefore(today: string, first: string): string[] {
  const before: string[] = [];
  for (let day = dayBefore(today, 1); day >= first && before.length < madeUpDaysMax; day = dayBefore(day, 1))
    before.push(day);
  return before;
}

/** The last day up to which every day was compared completely after its end; undefined if there is none. */
export function lastCompleteDay(days: ReconciledDays): string | undefined {
  let last: string | undefined;
  for (let day = firstOf(days); day !== undefined && isOver(days, day); day = dayBefore(day, -1)) last = day;
  return last;
}

/** Differences found by the latest runs of today and of the two days before. */
export const recentDifferences = (days: ReconciledDays, now: number): number =>
  [0, 1, 2].reduce((sum, count) => sum + (days.get(dayBefore(utcDayOf(now), count))?.differences ?? 0), 0);
