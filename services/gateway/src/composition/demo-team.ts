import type { EventStore } from '@tollgate/event-store';
import {
  type Scope,
  type TeamCommand,
  type TeamRefusal,
  type TeamState,
  activeKeysMax,
  type ApiKey,
  formatApiKey,
  hashApiKeySecret,
  parseApiKey,
  createTeams,
  newApiKey,
} from '@tollgate/teams';

import { type Clock, type Ids, Secret, StartupError } from '@tollgate/service-kit';
import type { Parts } from './parts.ts';

const demoTeam = 'demo';
const demoScopes: readonly Scope[] = ['payments', 'refunds', 'payouts', 'read', 'admin'];

/** What listens to callbacks beside a gateway that is tried out is on the same machine, on any port. */
const demoCallbackOrigins = ['http://127.0.0.1:*', 'http://localhost:*', 'http://[::1]:*'];

interface Dependencies {
  store: EventStore;
  clock: Clock;
  ids: Ids;
}

/** Of the team that whoever tries the gateway out calls it as. */
export async function demoKey({ store, clock, ids, dataDirectory }: Parts): Promise<Secret> {
  const known = dataDirectory.readQuickstart()?.apiKey;
  const deps = { store: await store(), clock, ids };
  return ensureDemoTeam(deps, known === undefined ? undefined : new Secret(known));
}

/**
 * Makes sure that the demo team exists and has a key, and gives the key. A key that is known from an earlier start is kept,
 * also where the event store was thrown away meanwhile; where the key was lost, a new one takes the oldest one's place.
 */
export async function ensureDemoTeam(deps: Dependencies, knownKey: Secret | undefined): Promise<Secret> {
  const known = knownKey === undefined ? undefined : parseApiKey(knownKey.reveal());
  const key = known ?? newApiKey(deps.ids, 'sandbox');
  const refused = await issue(deps, key);
  // The known key was revoked by somebody: it stays so.
  if (refused === 'key_exists') return ensureDemoTeam(deps, undefined);
  if (refused !== undefined)
    throw new StartupError('demo_team', `The demo team cannot be given a key (${refused}).`);
  return new Secret(formatApiKey(key));
}

async function issue(deps: Dependencies, key: ApiKey): Promise<TeamRefusal['code'] | undefined> {
  const { environment, keyId, secret } = key;
  const issueKey: TeamCommand = {
    type: 'IssueKey',
    ...{ environment, keyId, scopes: demoScopes, secretHash: hashApiKeySecret(secret) },
  };
  const teams = createTeams({ ...deps, actor: 'gateway' });
  const refusal = await teams.change(demoTeam, (team) => [
    ...(team === undefined ? [{ type: 'AddTeam' as const, name: demoTeam }] : []),
    ...allowCallbacks(team),
    ...makeRoom(team, keyId),
    issueKey,
  ]);
  return refusal?.code;
}

/** A list that somebody has set since stays as it is. */
function allowCallbacks(team: TeamState): TeamCommand[] {
  if (team?.allowedOrigins.callback !== undefined) return [];
  return [{ type: 'AllowOrigins', purpose: 'callback', origins: demoCallbackOrigins }];
}

function makeRoom(team: TeamState, keyId: string): TeamCommand[] {
  const active = team?.keys.filter((key) => key.active) ?? [];
  const [oldest] = active;
  const isKnown = active.some((key) => key.keyId === keyId);
  if (oldest === undefined || isKnown || active.length < activeKeysMax) return [];
  return [{ type: 'RevokeKey', keyId: oldest.keyId }];
}
