/** A list of API keys: scopes, last use and restrictions. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, omitUndefined, html } from '@tollgate/service-kit';
import { texts } from '../texts.ts';
import { chip } from './state.ts';
import { type List, column } from './table.ts';
import { durationText, relative, timeInColumn, zone } from './time.ts';

export type Key = AnswerOf<'KeyList'>['keys'][number];

export const teamPath = (team: string): string => `/console/teams/${encodeURIComponent(team)}`;

const tones = { active: 'good', expired: 'calm', revoked: 'bad' } as const;

/** Shown as expiring while there is time to replace it. */
const endsSoonMs = 30 * 86_400_000;

/** @param now milliseconds since the Unix epoch */
export const keyList = (now: number): List<Key> => ({
  name: 'keys',
  label: texts.nav.teams,
  keyOf: ({ environment, keyId }) => `${environment} ${keyId}`,
  columns: [
    column('keyid', 'Key', idOf, { width: 'state', use: 'always' }),
    column('state', 'State', ({ state }) => chip(texts.keyStates[state] ?? state, tones[state]), {
      width: 'time',
    }),
    column('team', 'Team', ({ team }) => team, { width: 'name' }),
    column('scopes', 'Scopes', ({ scopes }) => scopes.join(', ')),
    column('expires', 'Expires', (key) => endOf(key, now), {
      head: html`Expires ${zone}`,
      width: 'long-time',
    }),
    column('used', 'Last used', (key) => usedCell(key, now), { width: 'name' }),
    column('limits', 'Restrictions', boundsOf, { isSecond: true }),
  ],
});

const hourMs = 3_600_000;

/** Uses are recorded hourly. */
const isUsedNow = ({ lastUsedAt }: Key, now: number): boolean =>
  lastUsedAt !== undefined && Date.parse(lastUsedAt) + hourMs > now;

export function usedText(key: Key, now: number): string {
  if (key.lastUsedAt === undefined) return 'never';
  return isUsedNow(key, now) ? 'used in this hour' : `${durationText(now - Date.parse(key.lastUsedAt))} ago`;
}

function usedCell(key: Key, now: number): Html | string {
  const { lastUsedAt } = key;
  return lastUsedAt === undefined || isUsedNow(key, now) ? usedText(key, now) : relative(lastUsedAt);
}

const idOf = ({ team, keyId, environment }: Key): Html =>
  html`<a href="${teamPath(team)}"><code>${keyId}</code></a>
    <small class="${environment === 'production' ? 'production' : 'calm'}">${environment}</small>`;

function endOf({ expiresAt, state }: Key, now: number): Html | string {
  if (expiresAt === undefined) return 'never';
  const isNear = state === 'active' && Date.parse(expiresAt) - now < endsSoonMs;
  return isNear ? html`<strong>${relative(expiresAt)}</strong>` : timeInColumn(expiresAt);
}

const boundsOf = ({ networks, requestsPerSecondMax }: Key): string =>
  Object.values(
    omitUndefined({
      networks: networks && `from ${networks.join(', ')}`,
      rate: requestsPerSecondMax === undefined ? undefined : `${requestsPerSecondMax} requests a second`,
    }),
  ).join('; ');
