/**
 * Times are written in UTC, so that a page is readable without script; scripts convert them to the reader's zone
 * (`static/times.js`).
 */
import { type Html, html } from '@tollgate/service-kit';

const utc = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 19)}`;

/** An instant, ISO 8601. */
export const time = (iso: string): Html =>
  html`<time datetime="${iso}" title="${utc(iso)} UTC">${utc(iso)} UTC</time>`;

/** As {@link time}, if the zone is shown above the column. */
export const timeInColumn = (iso: string): Html =>
  html`<time datetime="${iso}" data-form="column" title="${utc(iso)} UTC">${utc(iso)}</time>`;

/** As {@link time}, if the day is shown above the row. */
export const timeInDay = (iso: string): Html =>
  html`<time datetime="${iso}" data-form="short" title="${utc(iso)} UTC">${utc(iso).slice(5)}</time>`;

/** Shows the zone of the times below. */
export const zone = html`<small data-zone="">UTC</small>`;

/** With milliseconds, without the day. */
export const timeOfDay = (iso: string): Html =>
  html`<time datetime="${iso}" data-form="clock" title="${utc(iso)} UTC">${iso.slice(11, 23)}</time>`;

/** Distance from now: `in 41 s`, `3 min ago`. */
export const relative = (iso: string): Html =>
  html`<time datetime="${iso}" data-form="relative" title="${utc(iso)} UTC">${utc(iso)} UTC</time>`;

const units = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const;

/** For example `2 h 14 min`, `1.2 s`, `48 ms`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  const first = units.findIndex(([length]) => ms >= length);
  const parts: string[] = [];
  let rest = ms;
  for (const [length, name] of units.slice(first, first + 2)) {
    const count = Math.floor(rest / length);
    rest -= count * length;
    if (count > 0) parts.push(`${count} ${name}`);
  }
  return parts.join(' ');
}

const instantPattern = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d)?(Z|[+-]\d\d:\d\d)?)?$/;

/** `Date.parse` accepts 31 February as 3 March. */
const isDay = (text: string): boolean =>
  !Number.isNaN(Date.parse(text)) && new Date(Date.parse(text)).toISOString().startsWith(text);

/** For example `2030-01-31` or `2030-01-31T14:05`, in UTC unless a zone is given; undefined for an invalid time. */
export function instantIn(text: string): number | undefined {
  const [, time, , zone] = instantPattern.exec(text) ?? [];
  const at = Date.parse(time !== undefined && zone === undefined ? `${text}Z` : text);
  return instantPattern.test(text) && isDay(text.slice(0, 10)) && !Number.isNaN(at) ? at : undefined;
}
