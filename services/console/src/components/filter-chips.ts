/** All active filters, each with a link to the list without it. */
import { type Html, html } from '@tollgate/service-kit';
import { texts } from '../texts.ts';
import { phaseName } from './state.ts';
import { instantIn, time } from './time.ts';

const { filters: words, last } = texts.payments;

const nameOf = (name: string): string | undefined => {
  const [, noted] = /^metadata\[(.+)\]$/.exec(name) ?? [];
  return noted === undefined ? names.get(name) : `${words.metadata} ${noted}`;
};
const names: ReadonlyMap<string, string> = new Map(Object.entries(words.names));
const ranges: ReadonlyMap<string, string> = new Map(Object.entries(last));

function valueOf(name: string, value: string, currency: string | undefined): Html | string {
  if (name === 'phase' || name === 'status') return phaseName(value);
  if (name === 'last' || name === 'before') return ranges.get(value) ?? value;
  if (name === 'amountFrom' || name === 'amountTo') return `${value} ${currency ?? words.eachCurrency}`;
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
    return html`<a class="filter" href="${path}?${rest.toString()}" title="${words.clear}"
      >${text} <span aria-hidden="true">×</span></a
    >`;
  });
  return html`<p class="chips" aria-label="${words.acting}">${chips}</p>`;
}
