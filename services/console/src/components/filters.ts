/** The filters of lists, all kept in the URL: a form, and a chip for each active one. */
import { type Html, html } from '@tollgate/service-kit';
import { choice, optionsOf } from './choice.ts';
import { hiddenFields } from './form.ts';
import { phaseName } from './state.ts';
import { instantIn, time, zone } from './time.ts';

/** Values of the filter `last`. */
export const createdWithin = { '30m': '30 minutes', '4h': '4 hours', '24h': '24 hours', '7d': '7 days' };

const filterNames = {
  phase: 'State',
  status: 'Status',
  team: 'Team',
  environment: 'Environment',
  currency: 'Currency',
  orderNumber: 'Order number',
  last: 'Created within',
  before: 'Older than',
  from: 'Created from',
  to: 'Created before',
  declineReason: 'Declined for',
  amountFrom: 'Amount from',
  amountTo: 'Amount up to',
  sanitizedMask: 'Card ends with',
  account: 'Account',
  paymentToken: 'Payment',
  person: 'Person',
  errorCode: 'Error code',
  keyId: 'Key',
  change: 'Change',
  needsReview: 'With a review',
  unresolved: 'Unresolved',
  refundOpen: 'Refunds open',
  wallet: 'Wallet',
  ledgerAccount: 'Ledger account',
  kind: 'Kind',
  token: 'Token',
  dateFrom: 'From day',
  dateTo: 'To day',
  month: 'Month',
};
const names: ReadonlyMap<string, string> = new Map(Object.entries(filterNames));
const ranges: ReadonlyMap<string, string> = new Map(Object.entries(createdWithin));

const nameOf = (name: string): string | undefined => {
  const [, noted] = /^metadata\[(.+)\]$/.exec(name) ?? [];
  return noted === undefined ? names.get(name) : `Metadata ${noted}`;
};

/** How a filter is entered, or its options. A hidden one is set by a view, a tab or a link. */
type Field = 'text' | 'decimal' | 'numeric' | 'instant' | 'date' | 'month' | 'hidden' | Options;
type Options = readonly (readonly [value: string, text: string])[];
type Fields = Readonly<Record<string, Field>>;

/** Filters by team and environment. */
export const ownerFields = (teams: readonly string[]) => ({
  team: optionsOf(teams),
  environment: optionsOf(['production', 'sandbox']),
});

/** @param further fields that are closed while none of them has a value @param given values that the URL omits */
export function filterForm(
  path: string,
  query: URLSearchParams,
  fields: Fields,
  { further = {}, given = {} }: { further?: Fields; given?: Readonly<Record<string, string>> } = {},
): Html {
  const value = (name: string) => query.get(name) || (given[name] ?? '');
  const shown = (of: Fields) =>
    Object.entries(of).map(([name, field]) => fieldOf(name, field, value(name), name in given));
  const isOpen = Object.keys(further).some((name) => value(name) !== '') ? html` open` : undefined;
  const rest = html`<details ${isOpen}>
    <summary>More filters</summary>
    <div class="more">${shown(further)}</div>
  </details>`;
  return html`<form class="filters" action="${path}">
    ${shown(fields)} ${Object.keys(further).length === 0 ? undefined : rest}
    <button>Show</button>
  </form>`;
}

function fieldOf(name: string, field: Field, value: string, isRequired: boolean): Html | undefined {
  if (field === 'hidden') return value === '' && !isRequired ? undefined : hiddenFields({ [name]: value });
  const label = nameOf(name) ?? 'Metadata';
  if (typeof field !== 'string')
    return choice(name, label, value, { ...(isRequired ? {} : { any: 'any' }), options: field });
  if (field === 'instant') return instantEntry(name, label, value);
  if (field === 'date' || field === 'month')
    return html`<label>${label}<input type="${field}" name="${name}" value="${value}" /></label>`;
  return html`<label
    >${label}<input
      name="${name}"
      value="${value}"
      inputmode="${field}"
      placeholder="${name === 'metadata' ? 'order: 4711' : ''}"
      maxlength="255"
      autocomplete="off"
  /></label>`;
}

/** Precise to the minute. The script shows the reader's zone; the URL contains UTC. */
function instantEntry(name: string, label: string, value: string): Html {
  const at = instantIn(value);
  const minute = at === undefined ? '' : new Date(at).toISOString().slice(0, 16);
  return html`<label
    >${label} ${zone}<input type="datetime-local" name="${name}" value="${minute}"
  /></label>`;
}

/** Accepts `metadata[order]=4711`, and the typed form `metadata=order:4711`. */
export function metadataIn(query: URLSearchParams): { name: string; text: string }[] {
  return [...query].flatMap(([key, value]) => {
    const [, name = ''] = /^metadata\[([^[\]]+)\]$/.exec(key) ?? [];
    if (name !== '' && value !== '') return { name, text: value };
    const [, typed = '', text = ''] =
      (key === 'metadata' && /^\s*([^:=\s]+)\s*[:=]\s*(\S.*)$/s.exec(value)) || [];
    return typed === '' ? [] : { name: typed, text: text.trim() };
  });
}

function valueOf(name: string, value: string, currency: string | undefined): Html | string {
  if (name === 'phase' || name === 'status') return phaseName(value);
  if (name === 'last' || name === 'before') return ranges.get(value) ?? value;
  if (name === 'amountFrom' || name === 'amountTo') return `${value} ${currency ?? 'in each currency'}`;
  const at = name === 'from' || name === 'to' ? instantIn(value) : undefined;
  return at === undefined ? value : time(new Date(at).toISOString());
}

const flags: ReadonlySet<string> = new Set(['needsReview', 'unresolved', 'refundOpen']);

/** All active filters, each with a link to the list without it. @param without filters that the page shows elsewhere */
export function filterChips(
  path: string,
  query: URLSearchParams,
  without: readonly string[] = [],
): Html | undefined {
  const acting = [...query].filter(
    ([name, value]) => value !== '' && !without.includes(name) && nameOf(name) !== undefined,
  );
  if (acting.length === 0) return undefined;
  const currency = query.get('currency') || undefined;
  const chips = acting.map(([name, value]) => {
    const rest = new URLSearchParams(query);
    rest.delete(name);
    rest.delete('cursor');
    const label = nameOf(name) ?? name;
    const text =
      flags.has(name) && value === 'true' ? label : html`${label}: ${valueOf(name, value, currency)}`;
    return html`<a class="filter" href="${path}?${rest.toString()}" title="Remove this filter"
      >${text} <span aria-hidden="true">×</span></a
    >`;
  });
  return html`<p class="chips" aria-label="Filters">${chips}</p>`;
}
