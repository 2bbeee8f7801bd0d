/** Maps the filters in a list's URL to a query of the API. */
import { metadataIn } from './filters.ts';
import { instantIn } from './time.ts';

const perPage = 50;

const unitMs = new Map([
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/** For example `30m`, `24h` or `7d`; undefined if the text is no time range. */
function spanMs(text: string): number | undefined {
  const [, count = '', unit = ''] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  const ms = unitMs.get(unit);
  return ms === undefined ? undefined : Number(count) * ms;
}

const amountNames = ['amountFrom', 'amountTo'] as const;
const rangeNames = ['last', 'before'] as const;
const instantNames = ['from', 'to'] as const;

/** An invalid filter value, and an example of a valid one. */
export interface WrongFilter {
  name: string;
  value: string;
  example: string;
}

export function wrongFilters(query: URLSearchParams): WrongFilter[] {
  const wrong = (names: readonly string[], isRight: (value: string) => boolean, example: string) =>
    names.flatMap((name) => {
      const value = query.get(name) ?? '';
      return value === '' || isRight(value) ? [] : [{ name, value, example }];
    });
  return [
    ...wrong(amountNames, (value) => decimalIn(value) !== undefined, '1250.00'),
    ...wrong(rangeNames, (value) => spanMs(value) !== undefined, '90m, 24h, 7d'),
    ...wrong(instantNames, (value) => instantIn(value) !== undefined, '2030-01-31T14:05'),
  ];
}

export const wrongTexts = (wrong: readonly WrongFilter[]): string =>
  wrong
    .map(({ name, value, example }) => `${name} cannot be “${value}”: write it as in ${example}.`)
    .join(' ');

/** In major units; `1,250` is ambiguous. */
function decimalIn(text: string): string | undefined {
  const [, whole, , mark, fraction] = /^(\d{1,16})(([.,])(\d{1,4}))?$/.exec(text.trim()) ?? [];
  if (whole === undefined || (mark === ',' && fraction?.length === 3)) return undefined;
  return fraction === undefined ? whole : `${whole}.${fraction}`;
}

const sameHere = [
  ...['phase', 'team', 'environment', 'currency', 'orderNumber', 'sanitizedMask', 'account', 'status'],
  ...['needsReview', 'unresolved', 'refundOpen', 'paymentToken'],
];

/** The API query if no filter is invalid. Time ranges are relative to now. */
export function toApiQuery(query: URLSearchParams, now: number): URLSearchParams {
  const asked = new URLSearchParams({ perPage: String(perPage) });
  const value = (name: string) => query.get(name) ?? '';
  for (const name of [...sameHere, 'declineReason', 'order', 'cursor'])
    if (value(name) !== '') asked.set(name, value(name));
  for (const name of amountNames) {
    const decimal = decimalIn(value(name));
    if (decimal !== undefined) asked.set(name, decimal);
  }
  for (const { name, text } of metadataIn(query)) asked.append('metadata', `${name}:${text}`);
  // Rounded to the minute, so that a reload sends the same query.
  const minute = Math.floor(now / 60_000) * 60_000;
  const [span, age] = [spanMs(value('last')), spanMs(value('before'))];
  const begin = [span === undefined ? undefined : minute - span, instantIn(value('from'))];
  const end = [age === undefined ? undefined : minute - age, instantIn(value('to'))];
  const given = (each: readonly (number | undefined)[]) => each.filter((at) => at !== undefined);
  if (given(begin).length > 0) asked.set('createdFrom', new Date(Math.max(...given(begin))).toISOString());
  if (given(end).length > 0) asked.set('createdBefore', new Date(Math.min(...given(end))).toISOString());
  return asked;
}

/** The query for the decline reasons of a list of declined payments; undefined for other lists. */
export function toDeclineQuery(query: URLSearchParams, now: number): URLSearchParams | undefined {
  if (query.get('phase') !== 'declined' && query.get('status') !== 'declined') return undefined;
  const asked = toApiQuery(query, now);
  const names = ['team', 'environment', 'createdFrom', 'createdBefore'];
  const kept = [...asked].filter(([name]) => names.includes(name));
  return new URLSearchParams([...kept, ['by', 'reason']]);
}
