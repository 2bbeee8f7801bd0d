/** Teams with keys in a real store, for specs. */
import { randomUUID } from 'node:crypto';
import type { EventStore } from '@tollgate/event-store';
import { scopes as allScopes, teamStream, type Scope, type TeamEvent } from '../team.ts';
import { type Environment } from '@tollgate/payment-domain';
import { type OriginPurpose } from '../allowed-origins.ts';
import { given } from '@tollgate/service-kit';
import { formatApiKey, hashApiKeySecret, type ApiKey } from '../api-key.ts';
import { appended } from '@tollgate/event-store/testing';

export async function appendTeamEvents(
  store: EventStore,
  team: string,
  events: readonly TeamEvent[],
): Promise<void> {
  const newEvents = events.map(({ type, data }) => ({ id: randomUUID(), type, data, metadata: {} }));
  appended(await store.append(teamStream(team), newEvents, 'any'));
}

export interface GivenKey {
  team: string;
  keyId: string;
  environment?: Environment;
  scopes?: readonly Scope[];
  requestsPerSecondMax?: number;
}

const secretOf = (keyId: string) => `secret-of-${keyId}-0123456789`;

export function keyIssued(key: GivenKey): TeamEvent {
  const { keyId, environment = 'sandbox', scopes = allScopes, requestsPerSecondMax } = key;
  const secretHash = hashApiKeySecret(secretOf(keyId));
  const data = { keyId, environment, scopes: [...scopes], secretHash, ...given({ requestsPerSecondMax }) };
  return { type: 'KeyIssued', data };
}

export const originsAllowed = (purpose: OriginPurpose, ...origins: string[]): TeamEvent => ({
  type: 'OriginsAllowed',
  data: { purpose, origins },
});

/** Adds a team with one key; gives the key's text. */
export async function givenTeam(store: EventStore, key: GivenKey): Promise<string> {
  await appendTeamEvents(store, key.team, [{ type: 'TeamAdded', data: { name: key.team } }, keyIssued(key)]);
  return keyText(key);
}

export const keyText = (
  { keyId, environment = 'sandbox' }: GivenKey,
  changes: Partial<ApiKey> = {},
): string => formatApiKey({ environment, keyId, secret: secretOf(keyId), ...changes });
