/** Teams and their keys, for operators. */
import { type BodyOf, type PublicKey, routes, sendError, toPublicKey } from '@tollgate/gateway-api/http';
import { omitUndefined } from '@tollgate/service-kit';
import {
  type Caller,
  type Scope,
  type TeamKey,
  formatApiKey,
  hashApiKeySecret,
  isExpired,
  lastUseOf,
  newApiKey,
  scopesToGive,
} from '@tollgate/teams';
import type { FastifyInstance } from 'fastify';
import { addBodyRoute, addCommandRoute } from './route-kit.ts';
import { type TeamRouteDependencies, change } from './team-change.ts';
import { addTeamSettings, toPublicTeam } from './team-settings-routes.ts';

export function registerTeamRoutes(app: FastifyInstance, deps: TeamRouteDependencies): void {
  addReading(app, deps);
  addTeamSettings(app, deps);

  addBodyRoute(app, deps, routes.addTeam, (call) => {
    const { team: name } = call.body;
    return change(deps, call, name, { type: 'AddTeam', name });
  });

  addBodyRoute(app, deps, routes.issueKey, async (call) => {
    const { team, expiresAt, environment, scopes, networks, requestsPerSecondMax } = call.body;
    const denied = deniedScope(call.caller, call.body);
    if (denied !== undefined)
      return sendError(call.reply, 'scope_missing', {
        message: `Your role cannot give a key the scope ${denied}. Leave it out, or ask an admin.`,
        parameter: 'scopes',
      });
    const made = newApiKey(deps.ids, environment);
    const key = { ...made, keyId: call.body.keyId ?? made.keyId };
    const command = {
      type: 'IssueKey',
      at: deps.clock.now(),
      keyId: key.keyId,
      environment,
      scopes,
      secretHash: hashApiKeySecret(key.secret),
      ...omitUndefined({ expiresAt, networks, requestsPerSecondMax }),
    } as const;
    return change(deps, call, team, command, () => ({ team, keyId: key.keyId, key: formatApiKey(key) }));
  });

  addBodyRoute(app, deps, routes.revokeKey, async (call) => {
    const { team } = call.body;
    const { keyId } = call.request.params as { keyId: string };
    const { reach } = call;
    if (!reach.includesTeam(team)) return sendError(call.reply, 'team_not_found');
    const key = deps.directory.find(team)?.keys.find((each) => each.keyId === keyId);
    if (key !== undefined && !reach.includes({ team, environment: key.environment }))
      return sendError(call.reply, 'key_not_found');
    return change(deps, call, team, { type: 'RevokeKey', keyId });
  });
}

function addReading(app: FastifyInstance, deps: TeamRouteDependencies): void {
  const { directory, clock } = deps;
  const isChangeable = deps.teamKeys !== undefined;

  addCommandRoute(app, deps, routes.listKeysOfAll, async ({ query, reach, reply }) => {
    const { team, state, perPage, cursor } = query;
    const wanted = (team === undefined ? directory.names().toSorted() : [team]).flatMap((name) => {
      const known = directory.find(name)?.keys ?? [];
      const keys = known.filter(({ environment }) => reach.includes({ team: name, environment }));
      return keys.map((key) => ({ team: name, key, at: `${name}.${key.keyId}` }));
    });
    const from = cursor === undefined ? 0 : wanted.findIndex(({ at }) => at === cursor) + 1;
    if (cursor !== undefined && from === 0)
      return sendError(reply, 'invalid_param', {
        parameter: 'cursor',
        message: 'cursor is not a nextCursor of this list.',
      });
    const matching = wanted
      .slice(from)
      .filter(
        ({ key }) => state === undefined || (stateOf(key, clock.now()) === 'active') === (state === 'active'),
      );
    const shown = matching.slice(0, perPage);
    const keys = await Promise.all(
      shown.map(async ({ team: name, key }) => {
        const lastUsedAt = await lastUseOf(deps.store, { team: name, keyId: key.keyId });
        return toPublicKey({ ...key, team: name, state: stateOf(key, clock.now()), lastUsedAt });
      }),
    );
    const nextCursor = matching.length > perPage ? shown.at(-1)?.at : undefined;
    return reply.send({ success: true, keys, isChangeable, perPage, ...omitUndefined({ nextCursor }) });
  });

  addCommandRoute(app, deps, routes.retrieveTeam, async ({ request, reach, reply }) => {
    const { team: name } = request.params as { team: string };
    const team = reach.includesTeam(name) ? directory.find(name) : undefined;
    return team === undefined
      ? sendError(reply, 'team_not_found')
      : reply.send({ success: true, team: toPublicTeam(team, reach), isChangeable });
  });
}

/** A scope that the person may not hand on. No key of a team issues keys. */
function deniedScope(
  { operator }: Caller,
  { team, environment, scopes }: BodyOf<'KeyRequest'>,
): Scope | undefined {
  const allowed = scopesToGive(operator?.grants ?? [], { team, environment });
  return scopes.find((scope) => !allowed.includes(scope));
}

const stateOf = (key: TeamKey, now: number): PublicKey['state'] =>
  !key.active ? 'revoked' : isExpired(key, now) ? 'expired' : 'active';
