/** The filters of the list of payments, all kept in the URL. */
import { type Html, html } from '@tollgate/service-kit';
import { texts } from '../texts.ts';
import { choice } from './choice.ts';
import { phaseName } from './state.ts';
import { instantIn, zone } from './time.ts';

/** Values of the filter `last`. */
export const createdWithin = {
  '': 'any time',
  '30m': '30 minutes',
  '4h': '4 hours',
  '24h': '24 hours',
  '7d': '7 days',
};

const phases = Object.keys(texts.phases);

/** Filters set by a view or a search, without a field. */
const kept = ['order', 'status', 'needsReview', 'unresolved', 'refundOpen', 'before'];

export function filterForm(query: URLSearchParams, teams: readonly string[]): Html {
  const value = (name: string) => query.get(name) ?? '';
  const hidden = [
    ...['amountFrom', 'amountTo', 'sanitizedMask', 'account', 'currency', 'environment'],
    ...['from', 'to', 'declineReason'],
  ];
  const noted = metadataIn(query);
  const isOpen = noted.length > 0 || hidden.some((name) => value(name) !== '') ? html` open` : undefined;
  return html`<form class="filters" action="/console/payments">
    ${choice('phase', 'State', value('phase'), { any: 'any', options: phases.map((phase) => [phase, phaseName(phase)]) })}
    ${teamChoice(value('team'), teams)}
    ${choice('last', 'Created within', value('last'), { any: 'any', options: Object.entries(createdWithin).slice(1) })}
    ${entry('orderNumber', 'Order number', value('orderNumber'))}
    <details ${isOpen}>
      <summary>More filters</summary>
      <div class="more">
        ${instantEntry('from', 'Created from', value('from'))}
        ${instantEntry('to', 'Created before', value('to'))}
        ${entry('amountFrom', 'Amount from', value('amountFrom'), 'decimal')}
        ${entry('amountTo', 'Amount up to', value('amountTo'), 'decimal')}
        ${entry('currency', 'Currency', value('currency'))}
        ${entry('sanitizedMask', 'Card ends with', value('sanitizedMask'), 'numeric')}
        ${entry('account', 'Account', value('account'))}
        ${entry('declineReason', 'Declined for', value('declineReason'))}
        ${noted.map(({ name, text }) => entry(`metadata[${name}]`, `Metadata ${name}`, text))}
        ${entry('metadata', 'Metadata', '', 'text', 'order: 4711')} ${environmentChoice(value('environment'))}
      </div>
    </details>
    ${kept.map((name) => (value(name) === '' ? undefined : html`<input type="hidden" name="${name}" value="${value(name)}" />`))}
    <button>Show</button>
  </form>`;
}

const environmentChoice = (chosen: string): Html =>
  choice('environment', 'Environment', chosen, {
    any: 'any',
    options: ['production', 'sandbox'].map((environment) => [environment, environment]),
  });

/** Filters by team and environment. */
export const ownerChoices = (query: URLSearchParams, teams: readonly string[]): Html =>
  html`${teamChoice(query.get('team') ?? '', teams)} ${environmentChoice(query.get('environment') ?? '')}`;

const teamChoice = (chosen: string, teams: readonly string[]): Html =>
  choice('team', 'Team', chosen, { any: 'any', options: teams.map((team) => [team, team]) });

export const entry = (name: string, label: string, value: string, mode = 'text', example = ''): Html =>
  html`<label
    >${label}<input
      name="${name}"
      value="${value}"
      inputmode="${mode}"
      placeholder="${example}"
      maxlength="255"
      autocomplete="off"
  /></label>`;

/** Precise to the minute. The script shows the reader's zone; the URL contains UTC. */
export function instantEntry(name: string, label: string, value: string): Html {
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
