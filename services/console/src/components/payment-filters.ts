/** The filters of the list of payments, all kept in the URL. */
import { type Html, html } from '@tollgate/service-kit';
import { texts } from '../texts.ts';
import { choice } from './choice.ts';
import { phaseName } from './state.ts';
import { instantIn, zone } from './time.ts';

const { filters: words } = texts.payments;

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
    ${choice('phase', words.phase, value('phase'), { any: words.any, options: phases.map((phase) => [phase, phaseName(phase)]) })}
    ${teamChoice(value('team'), teams)}
    ${choice('last', words.last, value('last'), { any: words.any, options: Object.entries(texts.payments.last).slice(1) })}
    ${entry('orderNumber', words.orderNumber, value('orderNumber'))}
    <details ${isOpen}>
      <summary>${words.more}</summary>
      <div class="more">
        ${instantEntry('from', words.from, value('from'))} ${instantEntry('to', words.to, value('to'))}
        ${entry('amountFrom', words.amountFrom, value('amountFrom'), 'decimal')}
        ${entry('amountTo', words.amountTo, value('amountTo'), 'decimal')}
        ${entry('currency', words.currency, value('currency'))}
        ${entry('sanitizedMask', words.sanitizedMask, value('sanitizedMask'), 'numeric')}
        ${entry('account', words.account, value('account'))}
        ${entry('declineReason', words.declineReason, value('declineReason'))}
        ${noted.map(({ name, text }) => entry(`metadata[${name}]`, `${words.metadata} ${name}`, text))}
        ${entry('metadata', words.metadata, '', 'text', words.metadataExample)}
        ${environmentChoice(value('environment'))}
      </div>
    </details>
    ${kept.map((name) => (value(name) === '' ? undefined : html`<input type="hidden" name="${name}" value="${value(name)}" />`))}
    <button>${words.apply}</button>
  </form>`;
}

const environmentChoice = (chosen: string): Html =>
  choice('environment', words.environment, chosen, {
    any: words.any,
    options: ['production', 'sandbox'].map((environment) => [environment, environment]),
  });

/** Filters by team and environment. */
export const ownerChoices = (query: URLSearchParams, teams: readonly string[]): Html =>
  html`${teamChoice(query.get('team') ?? '', teams)} ${environmentChoice(query.get('environment') ?? '')}`;

const teamChoice = (chosen: string, teams: readonly string[]): Html =>
  choice('team', words.team, chosen, { any: words.any, options: teams.map((team) => [team, team]) });

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
