/** Table of API keys: scopes, last use and restrictions. */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, omitUndefined, html } from '@tollgate/service-kit';
import { texts } from '../texts.ts';
import { chip } from './state.ts';
import { type List, listTable } from './table.ts';
import { durationText, relative, timeInColumn, zone } from './time.ts';

const words = texts.teams;

export type Key = AnswerOf<'KeyList'>['keys'][number];

export const teamPath = (team: string): string => `/console/teams/${encodeURIComponent(team)}`;

const tones = { active: 'good', expired: 'calm', revoked: 'bad' } as const;

/** Shown as expiring while there is time to replace it. */
const endsSoonMs = 30 * 86_400_000;

/** @param now milliseconds since the Unix epoch */
export function keyTable(keys: readonly Key[], now: number): Html {
  const { columns } = words;
  const list: List<Key> = {
    name: 'keys',
    label: words.title,
    keyOf: ({ environment, keyId }) => `${environment} ${keyId}`,
    columns: [
      { id: 'keyid', name: columns.key, width: 'state', cell: idOf },
      {
        id: 'state',
        name: columns.state,
        width: 'time',
        cell: ({ state }) => chip(words.states[state] ?? state, tones[state]),
      },
      { id: 'team', name: columns.team, width: 'name', cell: ({ team }) => team },
      { id: 'scopes', name: columns.scopes, cell: ({ scopes }) => scopes.join(', ') },
      {
        id: 'expires',
        name: columns.expires,
        head: html`${columns.expires} ${zone}`,
        width: 'long-time',
        cell: (key) => endOf(key, now),
      },
      { id: 'used', name: columns.used, width: 'name', cell: (key) => usedCell(key, now) },
      { id: 'limits', name: columns.limits, isSecond: true, cell: boundsOf },
    ],
  };
  return listTable(list, keys);
}

const hourMs = 3_600_000;

/** Uses are recorded hourly. */
const isUsedNow = ({ lastUsedAt }: Key, now: number): boolean =>
  lastUsedAt !== undefined && Date.parse(lastUsedAt) + hourMs > now;

export function usedText(key: Key, now: number): string {
  if (key.lastUsedAt === undefined) return words.never;
  return isUsedNow(key, now) ? words.usedNow : words.ago(durationText(now - Date.parse(key.lastUsedAt)));
}

function usedCell(key: Key, now: number): Html | string {
  const { lastUsedAt } = key;
  return lastUsedAt === undefined || isUsedNow(key, now) ? usedText(key, now) : relative(lastUsedAt);
}

const idOf = ({ team, keyId, environment }: Key): Html =>
  html`<a href="${teamPath(team)}"><code>${keyId}</code></a>
    <small class="${environment === 'production' ? 'production' : 'calm'}">${environment}</small>`;

function endOf({ expiresAt, state }: Key, now: number): Html | string {
  if (expiresAt === undefined) return words.noEnd;
  const isNear = state === 'active' && Date.parse(expiresAt) - now < endsSoonMs;
  return isNear ? html`<strong>${relative(expiresAt)}</strong>` : timeInColumn(expiresAt);
}

const boundsOf = ({ networks, requestsPerSecondMax }: Key): string =>
  Object.values(
    omitUndefined({
      networks: networks && words.from(networks),
      rate: requestsPerSecondMax === undefined ? undefined : words.perSecond(requestsPerSecondMax),
    }),
  ).join('; ');
