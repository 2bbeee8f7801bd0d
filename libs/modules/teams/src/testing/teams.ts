/** Teams with keys in a real store, for specs. */
import { randomUUID } from 'node:crypto';
import { type EventStore, type NewEvent, loadState } from '@tollgate/event-store';
import type { Environment } from '@tollgate/core';
import { omitUndefined, type OriginPurpose } from '@tollgate/service-kit';
import { signEvent, createTeamSigner, createTeamVerifier, newSigningKeys } from '../signing/signed-events.ts';
import { scopes as allScopes, teamStream, type Scope, type TeamEvent } from '../team.ts';
import type { TeamKeys } from '../teams.ts';
import { formatApiKey, hashApiKeySecret, type ApiKey } from '../api-key.ts';
import { appended } from '@tollgate/event-store/testing';

const { privateKey, publicKey } = newSigningKeys();
const signer = createTeamSigner(privateKey);
export const testVerifier = createTeamVerifier(publicKey);
/** One pair for all specs of a process. */
export const testTeamKeys: TeamKeys = { signer: () => signer, verifier: () => testVerifier };

/** Appends signed events without validation. */
export async function appendTeamEvents(
  store: EventStore,
  team: string,
  events: readonly TeamEvent[],
): Promise<void> {
  const stream = teamStream(team);
  const { state, revision } = await loadState<string | undefined, string | undefined>({
    store,
    stream,
    initial: undefined,
    decode: (recorded) => (recorded.metadata as { signature?: { value?: string } }).signature?.value,
    evolve: (previous, value) => value ?? previous,
  });
  let previous = state;
  let next = revision === 'no-stream' ? 0 : revision + 1;
  const signed: NewEvent[] = [];
  for (const { type, data } of events) {
    const event = { id: randomUUID(), type, data, metadata: {} };
    const { value, ...rest } = signEvent(signer, { stream, revision: next, previous }, event);
    signed.push(rest);
    previous = value;
    next += 1;
  }
  appended(await store.append(stream, signed, revision));
}

export interface GivenKey {
  team: string;
  keyId: string;
  environment?: Environment;
  scopes?: readonly Scope[];
  requestsPerSecondMax?: number;
  expiresAt?: number;
  networks?: readonly string[];
}

const secretOf = (keyId: string) => `secret-of-${keyId}-0123456789`;

export function keyIssued(key: GivenKey): TeamEvent {
  const { keyId, environment = 'sandbox', scopes = allScopes, ...terms } = key;
  const secretHash = hashApiKeySecret(secretOf(keyId));
  const { requestsPerSecondMax, expiresAt } = terms;
  const networks = terms.networks === undefined ? undefined : [...terms.networks];
  const limits = omitUndefined({ requestsPerSecondMax, expiresAt, networks });
  const data = { keyId, environment, scopes: [...scopes], secretHash, ...limits };
  return { type: 'KeyIssued', data };
}

export const originsAllowed = (purpose: OriginPurpose, ...origins: string[]): TeamEvent => ({
  type: 'OriginsAllowed',
  data: { purpose, origins },
});

/** Adds a team with one key; returns the key's text. */
export async function givenTeam(store: EventStore, key: GivenKey): Promise<string> {
  await appendTeamEvents(store, key.team, [{ type: 'TeamAdded', data: { name: key.team } }, keyIssued(key)]);
  return keyText(key);
}

export const keyText = (
  { keyId, environment = 'sandbox' }: GivenKey,
  changes: Partial<ApiKey> = {},
): string => formatApiKey({ environment, keyId, secret: secretOf(keyId), ...changes });
