/** Durations in milliseconds. */
export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** The UTC day of a time, `YYYY-MM-DD`. */
export const utcDayOf = (instant: number): string => new Date(instant).toISOString().slice(0, 10);
