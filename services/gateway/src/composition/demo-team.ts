/** The team that newcomers call the gateway as. There is one only next to the sandbox that the gateway brings up. */
import type { EventStore } from '@tollgate/event-store';
import {
  type Scope,
  type TeamCommand,
  type TeamKey,
  type TeamKeys,
  type TeamState,
  type Teams,
  activeKeysIn,
  activeKeysMax,
  type ApiKey,
  formatApiKey,
  hashApiKeySecret,
  parseApiKey,
  createTeams,
  newApiKey,
} from '@tollgate/teams';
import type { Environment } from '@tollgate/core';
import { type Clock, type Ids, Secret, StartupError, omitUndefined } from '@tollgate/service-kit';
import type { Parts } from './parts.ts';

const demoTeam = 'demo';
const demoScopes: readonly Scope[] = ['payments', 'refunds', 'payouts', 'read', 'stored-cards', 'admin'];

/** A test receiver of callbacks runs on the same machine, on any port. */
const demoCallbackOrigins = ['http://127.0.0.1:*', 'http://localhost:*', 'http://[::1]:*'];

interface Dependencies {
  store: EventStore;
  teamKeys: TeamKeys;
  clock: Clock;
  ids: Ids;
}

/** The key, if there is one, or the id of the active key that a person must revoke before another can be issued. */
export async function demoKey(
  parts: Pick<Parts, 'clock' | 'ids' | 'store' | 'logOf'> & {
    teamKeys: TeamKeys;
    config: Pick<Parts['config'], 'accountsFile'>;
    dataDirectory: Pick<Parts['dataDirectory'], 'readQuickstart'>;
  },
): Promise<{ key?: Secret; keyToRevoke?: string }> {
  const { config, clock, ids, dataDirectory, teamKeys } = parts;
  const deps = { store: await parts.store(), teamKeys, clock, ids };
  if (config.accountsFile === undefined) {
    const known = dataDirectory.readQuickstart()?.apiKey;
    const key = await ensureDemoTeam(deps, known === undefined ? undefined : new Secret(known));
    if (key !== undefined) return { key };
    const active = await activeDemoKeys(deps, ['sandbox']);
    // Keys that approve payouts are limited apart.
    const taken = active.filter(({ scopes }) => !scopes.includes('approvals'));
    return taken.length < activeKeysMax ? {} : omitUndefined({ keyToRevoke: taken[0]?.keyId });
  }
  const left = await activeDemoKeys(deps, ['sandbox', 'production']);
  if (left.length > 0)
    parts
      .logOf('gateway')
      .warn(
        { team: demoTeam, keyId: left.map(({ keyId }) => keyId).join(' ') },
        'the demo team has active keys although accounts are configured; revoke them: tollgate key revoke demo <keyId>',
      );
  return {};
}

/** The oldest first. */
async function activeDemoKeys(deps: Dependencies, environments: readonly Environment[]): Promise<TeamKey[]> {
  const team = await teamsOf(deps).find(demoTeam);
  if (team === undefined) return [];
  return environments.flatMap((each) => activeKeysIn(team, each, deps.clock.now()));
}

/**
 * Makes sure that the demo team exists and has a key, and returns the key. A key known from an earlier start is kept,
 * even if the event store was deleted meanwhile; if the key was lost, a second one is issued.
 *
 * Undefined if both were lost, or a key of the team was revoked, unless the known one is active.
 */
export async function ensureDemoTeam(
  deps: Dependencies,
  knownKey: Secret | undefined,
): Promise<Secret | undefined> {
  const teams = teamsOf(deps);
  const team = await teams.find(demoTeam);
  const known = knownKey === undefined ? undefined : parseApiKey(knownKey.reveal());
  const recorded = team?.keys.find(({ keyId }) => keyId === known?.keyId);
  if (team?.keys.some(({ active }) => !active) === true)
    return recorded?.active === true ? knownKey : undefined;
  const isKept = known !== undefined && recorded?.active !== false;
  const key = isKept ? known : newApiKey(deps.ids, 'sandbox');
  return (await issue(teams, key, deps.clock.now())) ? new Secret(formatApiKey(key)) : undefined;
}

const teamsOf = (deps: Dependencies): Teams =>
  createTeams({ ...deps, actor: { kind: 'service', name: 'gateway' } });

/** @returns false if the team has two active keys, which only a person may revoke */
async function issue(teams: Teams, key: ApiKey, at: number): Promise<boolean> {
  const { environment, keyId, secret } = key;
  const issueKey: TeamCommand = {
    type: 'IssueKey',
    at,
    environment,
    keyId,
    scopes: demoScopes,
    secretHash: hashApiKeySecret(secret),
  };
  const refusal = await teams.change(demoTeam, (team) => [
    ...(team === undefined ? [{ type: 'AddTeam' as const, name: demoTeam }] : []),
    ...allowCallbacks(team),
    issueKey,
  ]);
  if (refusal?.code === 'too_many_active_keys') return false;
  if (refusal !== undefined)
    throw new StartupError('demo_team', `The demo team cannot be given a key (${refusal.code}).`);
  return true;
}

/** A list that was set since then stays. */
function allowCallbacks(team: TeamState): TeamCommand[] {
  if (team?.allowedOrigins.callback !== undefined) return [];
  return [{ type: 'AllowOrigins', purpose: 'callback', origins: demoCallbackOrigins }];
}
