import { type EventStore, decideAndAppend } from '@tollgate/event-store';
import {
  type EventMetadata,
  type Scope,
  type TeamCommand,
  type TeamEvent,
  type TeamRefusal,
  type TeamState,
  activeKeysMax,
  decideTeam,
  decodeTeamEvent,
  evolveTeam,
  teamStream,
} from '@tollgate/payment-domain';
import { type ApiKey, formatApiKey, hashApiKeySecret, parseApiKey } from '@tollgate/read-models';
import { type Clock, type Ids, Secret, StartupError } from '@tollgate/service-kit';

const demoTeam = 'demo';
const demoScopes: readonly Scope[] = ['payments', 'refunds', 'payouts', 'read', 'admin'];

interface Dependencies {
  store: EventStore;
  clock: Clock;
  ids: Ids;
}

/**
 * Makes sure that the demo team exists and has a key, and gives the key. A key that is known from an earlier start is kept,
 * also where the event store was thrown away meanwhile; where the key was lost, a new one takes the oldest one's place.
 */
export async function ensureDemoTeam(deps: Dependencies, knownKey: Secret | undefined): Promise<Secret> {
  const known = knownKey === undefined ? undefined : parseApiKey(knownKey.reveal());
  const key = known ?? newKey(deps.ids);
  const issued = await issue(deps, key);
  // The known key was revoked by somebody: it stays so.
  if (issued === 'key_exists') return ensureDemoTeam(deps, undefined);
  if (issued !== undefined)
    throw new StartupError('demo_team', `The demo team cannot be given a key (${issued}).`);
  return new Secret(formatApiKey(key));
}

const newKey = (ids: Ids): ApiKey => ({ environment: 'sandbox', keyId: ids.hex(6), secret: ids.hex(24) });

async function issue(deps: Dependencies, key: ApiKey): Promise<TeamRefusal['code'] | undefined> {
  const { store, ids, clock } = deps;
  const { environment, keyId, secret } = key;
  const command: TeamCommand = {
    type: 'IssueKey',
    ...{ environment, keyId, scopes: demoScopes, secretHash: hashApiKeySecret(secret) },
  };
  const causationId = ids.uuid();
  const actor = { kind: 'service' as const, name: 'gateway' };
  const cause = { correlationId: causationId, causationId, actor };
  const metadata: EventMetadata = { schemaVersion: 1, ...cause, recordedAt: clock.now() };
  const outcome = await decideAndAppend<TeamState, TeamEvent, TeamRefusal>({
    store,
    stream: teamStream(demoTeam),
    initial: undefined,
    decode: decodeTeamEvent,
    evolve: evolveTeam,
    decide: (team) =>
      decideAll(team, [{ type: 'AddTeam', name: demoTeam }, ...makeRoom(team, keyId), command]),
    toNewEvents: (events) => events.map((event) => ({ id: ids.uuid(), ...event, metadata })),
  });
  return outcome.kind === 'refused' ? outcome.refusal.code : undefined;
}

function makeRoom(team: TeamState, keyId: string): TeamCommand[] {
  const active = team?.keys.filter((key) => key.active) ?? [];
  const [oldest] = active;
  const isKnown = active.some((key) => key.keyId === keyId);
  if (oldest === undefined || isKnown || active.length < activeKeysMax) return [];
  return [{ type: 'RevokeKey', keyId: oldest.keyId }];
}

/** Several commands decided as one; a team that exists already is no reason to stop. */
function decideAll(team: TeamState, commands: readonly TeamCommand[]): ReturnType<typeof decideTeam> {
  let state = team;
  const events: TeamEvent[] = [];
  for (const command of commands) {
    const decision = decideTeam(state, command);
    if (decision.kind === 'events') {
      events.push(...decision.events);
      state = decision.events.reduce<TeamState>(evolveTeam, state);
    } else if (decision.refusal.code !== 'team_exists') return decision;
  }
  return { kind: 'events', events };
}
