/** Maps the filters in a list's URL to a query of the API. */
import { metadataIn } from './filters.ts';
import { instantIn } from './time.ts';

const perPage = 50;

const unitMs = new Map([
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/** For example `30m`, `24h` or `7d`; NaN if the text is no time range. */
function spanMs(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  return Number(count) * (unitMs.get(unit) ?? NaN);
}

const sameHere = [
  ...['phase', 'team', 'environment', 'currency', 'orderNumber', 'sanitizedMask', 'account', 'status'],
  ...['needsReview', 'unresolved', 'refundOpen', 'paymentToken'],
];

/** The API reports invalid filters. Time ranges are relative to now. */
export function toApiQuery(query: URLSearchParams, now: number): URLSearchParams {
  const asked = new URLSearchParams({ perPage: String(perPage) });
  const value = (name: string) => query.get(name) ?? '';
  for (const name of [...sameHere, 'declineReason', 'order', 'cursor'])
    if (value(name) !== '') asked.set(name, value(name));
  for (const name of ['amountFrom', 'amountTo'])
    // `1,250` is ambiguous, and stays as it is.
    if (value(name) !== '')
      asked.set(
        name,
        value(name)
          .trim()
          .replace(/,(?=\d{1,2}$)/, '.'),
      );
  for (const { name, text } of metadataIn(query)) asked.append('metadata', `${name}:${text}`);
  // Rounded to the minute, so that a reload sends the same query.
  const minute = Math.floor(now / 60_000) * 60_000;
  const times = (range: string, instant: string): number[] => [
    ...(range === '' ? [] : [minute - spanMs(range)]),
    ...(instant === '' ? [] : [instantIn(instant) ?? NaN]),
  ];
  const [begin, end] = [times(value('last'), value('from')), times(value('before'), value('to'))];
  if (begin.length > 0) asked.set('createdFrom', instantText(Math.max(...begin)));
  if (end.length > 0) asked.set('createdBefore', instantText(Math.min(...end)));
  return asked;
}

const instantText = (at: number): string => (Number.isNaN(at) ? 'invalid' : new Date(at).toISOString());

/** The query for the decline reasons of a list of declined payments; undefined for other lists. */
export function toDeclineQuery(query: URLSearchParams, now: number): URLSearchParams | undefined {
  if (query.get('phase') !== 'declined' && query.get('status') !== 'declined') return undefined;
  const asked = toApiQuery(query, now);
  const names = ['team', 'environment', 'createdFrom', 'createdBefore'];
  const kept = [...asked].filter(([name]) => names.includes(name));
  return new URLSearchParams([...kept, ['by', 'reason']]);
}
