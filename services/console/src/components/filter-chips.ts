/** All active filters, each with a link to the list without it. */
import { type Html, html } from '@tollgate/service-kit';
import { createdWithin } from './payment-filters.ts';
import { phaseName } from './state.ts';
import { instantIn, time } from './time.ts';

export const filterNames = {
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
};

const nameOf = (name: string): string | undefined => {
  const [, noted] = /^metadata\[(.+)\]$/.exec(name) ?? [];
  return noted === undefined ? names.get(name) : `Metadata ${noted}`;
};
const names: ReadonlyMap<string, string> = new Map(Object.entries(filterNames));
const ranges: ReadonlyMap<string, string> = new Map(Object.entries(createdWithin));

function valueOf(name: string, value: string, currency: string | undefined): Html | string {
  if (name === 'phase' || name === 'status') return phaseName(value);
  if (name === 'last' || name === 'before') return ranges.get(value) ?? value;
  if (name === 'amountFrom' || name === 'amountTo') return `${value} ${currency ?? 'in each currency'}`;
  const at = name === 'from' || name === 'to' ? instantIn(value) : undefined;
  return at === undefined ? value : time(new Date(at).toISOString());
}

const flags: ReadonlySet<string> = new Set(['needsReview', 'unresolved', 'refundOpen']);

/** @param without filters that the page shows elsewhere */
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
