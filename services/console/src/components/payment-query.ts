/** What the list of payments asks the API for, by what stands in the address; and which of it the file beside it can have. */
import { texts } from '../texts.ts';
import { amountExample, parseAmount } from './amount.ts';
import { metadataIn } from './payment-filters.ts';
import { instantIn } from './time.ts';

const perPage = 50;

/** By name in the address, besides `metadata[…]`. */
const filterNames: ReadonlySet<string> = new Set([
  ...['phase', 'team', 'environment', 'currency', 'orderNumber', 'last', 'amountFrom', 'amountTo'],
  ...['sanitizedMask', 'account', 'status', 'needsReview', 'before', 'metadata', 'from', 'to'],
  ...['unresolved', 'refundOpen', 'declineReason'],
]);

/** The filters that leave something out. */
export const filtersIn = (query: URLSearchParams): string[] =>
  [...query.keys()].filter(
    (name) => (filterNames.has(name) || name.startsWith('metadata[')) && (query.get(name) ?? '') !== '',
  );

const unitMs = new Map([
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);

/** As in `30m`, `24h` or `7d`; undefined for what is no range of time. */
function spanMs(text: string): number | undefined {
  const [, count = '', unit = ''] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  const ms = unitMs.get(unit);
  return ms === undefined ? undefined : Number(count) * ms;
}

const amountNames = ['amountFrom', 'amountTo'] as const;
const rangeNames = ['last', 'before'] as const;
const instantNames = ['from', 'to'] as const;

/** A filter that is written as none is, and how it is written. */
export interface WrongFilter {
  name: string;
  value: string;
  example: string;
}

export function wrongFilters(query: URLSearchParams): WrongFilter[] {
  const currency = currencyOf(query);
  const wrong = (names: readonly string[], isRight: (value: string) => boolean, example: string) =>
    names.flatMap((name) => {
      const value = query.get(name) ?? '';
      return value === '' || isRight(value) ? [] : [{ name, value, example }];
    });
  return [
    ...wrong(amountNames, (value) => parseAmount(value, currency) !== undefined, amountExample(currency)),
    ...wrong(rangeNames, (value) => spanMs(value) !== undefined, '90m, 24h, 7d'),
    ...wrong(instantNames, (value) => instantIn(value) !== undefined, '2030-01-31T14:05'),
  ];
}

export const wrongTexts = (wrong: readonly WrongFilter[]): string =>
  wrong.map(({ name, value, example }) => texts.payments.filters.wrong(name, value, example)).join(' ');

/** Of the amounts that are asked for. */
const currencyOf = (query: URLSearchParams): string => {
  const currency = query.get('currency') ?? '';
  return currency === '' ? 'EUR' : currency;
};

const sameHere = [
  ...['phase', 'team', 'environment', 'currency', 'orderNumber', 'sanitizedMask', 'account', 'status'],
  ...['needsReview', 'unresolved', 'refundOpen', 'paymentToken'],
];

/** What the API is asked, where no filter is wrong; ranges of time count from now, amounts are whole units of the currency. */
export function toApiQuery(query: URLSearchParams, now: number): URLSearchParams {
  const asked = new URLSearchParams({ perPage: String(perPage) });
  const value = (name: string) => query.get(name) ?? '';
  for (const name of [...sameHere, 'declineReason', 'order', 'cursor'])
    if (value(name) !== '') asked.set(name, value(name));
  for (const name of amountNames) {
    const minor = parseAmount(value(name), currencyOf(query));
    if (minor !== undefined) asked.set(name, String(minor));
  }
  for (const { name, text } of metadataIn(query)) asked.append('metadata', `${name}:${text}`);
  // By the minute, so that a page that is loaded again asks the same.
  const minute = Math.floor(now / 60_000) * 60_000;
  const [span, age] = [spanMs(value('last')), spanMs(value('before'))];
  const begin = [span === undefined ? undefined : minute - span, instantIn(value('from'))];
  const end = [age === undefined ? undefined : minute - age, instantIn(value('to'))];
  const given = (each: readonly (number | undefined)[]) => each.filter((at) => at !== undefined);
  if (given(begin).length > 0) asked.set('createdFrom', new Date(Math.max(...given(begin))).toISOString());
  if (given(end).length > 0) asked.set('createdBefore', new Date(Math.min(...given(end))).toISOString());
  return asked;
}

/** Where all that a list shows was declined: what the API is asked for the reasons. */
export function toDeclineQuery(query: URLSearchParams, now: number): URLSearchParams | undefined {
  if (query.get('phase') !== 'declined' && query.get('status') !== 'declined') return undefined;
  const asked = toApiQuery(query, now);
  const names = ['team', 'environment', 'createdFrom', 'createdBefore'];
  return new URLSearchParams([...asked].filter(([name]) => names.includes(name)));
}

const inFiles = ['phase', 'status', 'orderNumber', 'currency', 'needsReview'];
const isInFiles = (name: string): boolean =>
  ['team', 'environment', 'metadata', ...inFiles].includes(name) || name.startsWith('metadata[');

/** The file with what the list shows; or why there is none: it is a team's own, of one environment, with fewer filters. */
export function fileOf(
  query: URLSearchParams,
): { kind: 'file'; address: string } | { kind: 'none'; lacks: string[]; without: string[] } {
  const value = (name: string) => query.get(name) ?? '';
  const lacks = ['team', 'environment'].filter((name) => value(name) === '');
  const without = filtersIn(query).filter((name) => !isInFiles(name));
  if (lacks.length > 0 || without.length > 0) return { kind: 'none', lacks, without };
  const asked = new URLSearchParams({ team: value('team'), environment: value('environment') });
  for (const name of inFiles) if (value(name) !== '') asked.set(name, value(name));
  for (const { name, text } of metadataIn(query)) asked.append('metadata', `${name}:${text}`);
  return { kind: 'file', address: `/console/payments.csv?${asked.toString()}` };
}
