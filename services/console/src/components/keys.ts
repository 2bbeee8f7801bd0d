/** Table of API keys: scopes, last use and restrictions. */
import { type Html, omitUndefined, html } from '@tollgate/service-kit';
import { texts } from '../texts.ts';
import { chip } from './state.ts';
import { rowTable } from './table.ts';
import { durationText, relative, timeInColumn, zone } from './time.ts';

const words = texts.teams;

/** As listed by the API. */
export interface Key {
  team: string;
  keyId: string;
  environment: string;
  scopes: readonly string[];
  state: 'active' | 'expired' | 'revoked';
  expiresAt?: string;
  networks?: readonly string[];
  requestsPerSecondMax?: number;
  lastUsedAt?: string;
}

export interface KeyList {
  keys: readonly Key[];
  isChangeable: boolean;
  nextCursor?: string;
}

export const teamPath = (team: string): string => `/console/teams/${encodeURIComponent(team)}`;

const tones = { active: 'good', expired: 'calm', revoked: 'bad' } as const;

/** Shown as expiring while there is time to replace it. */
const endsSoonMs = 30 * 86_400_000;

/** @param now milliseconds since the Unix epoch */
export function keyTable(keys: readonly Key[], now: number): Html {
  const { columns } = words;
  return rowTable(
    words.title,
    [
      { name: columns.team },
      { name: columns.key },
      { name: columns.state },
      { name: columns.scopes },
      { name: html`${columns.expires} ${zone}` },
      { name: columns.used },
      { name: columns.limits, isSecond: true },
    ],
    keys.map(
      (key) =>
        html`<tr data-row="">
          <td><a href="${teamPath(key.team)}">${key.team}</a></td>
          <td><code>${key.keyId}</code> ${environmentOf(key)}</td>
          <td>${chip(words.states[key.state] ?? key.state, tones[key.state])}</td>
          <td class="text" title="${key.scopes.join(', ')}">${key.scopes.join(', ')}</td>
          <td>${endOf(key, now)}</td>
          <td>${usedCell(key, now)}</td>
          <td class="text second" title="${boundsOf(key)}">${boundsOf(key)}</td>
        </tr>`,
    ),
  );
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

const environmentOf = ({ environment }: Key): Html =>
  html`<small class="${environment === 'production' ? 'production' : 'calm'}">${environment}</small>`;

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
