/** Durations in milliseconds. */
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** The day of an instant in UTC, `YYYY-MM-DD`. */
export const utcDayOf = (instant: number): string => new Date(instant).toISOString().slice(0, 10);
