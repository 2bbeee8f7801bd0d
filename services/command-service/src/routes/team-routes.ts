/** Teams and their keys, for people who operate the gateway. */
import { toIso } from '@tollgate/gateway-api';
import {
  type ErrorCode,
  type PublicKey,
  keyRevocationSchema,
  newKeySchema,
  newTeamSchema,
  routes,
  sendError,
} from '@tollgate/gateway-api/http';
import type { EventStore } from '@tollgate/event-store';
import { type Clock, type Ids, InvariantViolation, given, sendErrors } from '@tollgate/service-kit';
import {
  type Team,
  type TeamCommand,
  type TeamKey,
  type TeamKeys,
  type TeamRefusal,
  createTeams,
  formatApiKey,
  hashApiKeySecret,
  isExpired,
  lastUseOf,
  newApiKey,
} from '@tollgate/teams';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { parseBody } from './parsed.ts';
import { type CallerRequest, type RouteKit, addCommandRoute } from './route-kit.ts';

export interface TeamRouteDependencies extends RouteKit {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  /** What signs changes of teams; absent where this process is not to have it. */
  teamKeys?: TeamKeys | undefined;
}

export function registerTeamRoutes(app: FastifyInstance, deps: TeamRouteDependencies): void {
  addReading(app, deps);

  addCommandRoute(app, deps, routes.addTeam, async (call) => {
    const parsed = parseBody(newTeamSchema, call.request.body);
    if (parsed.kind === 'refused') return sendErrors(call.reply, 400, parsed.errors);
    const { team } = parsed.value;
    const isDone = await change(deps, call, team, { type: 'AddTeam', name: team });
    return isDone ? call.reply.send({ success: true, team }) : call.reply;
  });

  addCommandRoute(app, deps, routes.issueKey, async (call) => {
    const parsed = parseBody(newKeySchema, call.request.body);
    if (parsed.kind === 'refused') return sendErrors(call.reply, 400, parsed.errors);
    const { team, expiresAt, environment, scopes, networks, requestsPerSecondMax } = parsed.value;
    const made = newApiKey(deps.ids, environment);
    const key = { ...made, keyId: parsed.value.keyId ?? made.keyId };
    const isDone = await change(deps, call, team, {
      ...{ type: 'IssueKey', at: deps.clock.now(), keyId: key.keyId, environment, scopes },
      secretHash: hashApiKeySecret(key.secret),
      ...given({ expiresAt, networks, requestsPerSecondMax }),
    });
    const issued = { success: true, team, keyId: key.keyId, key: formatApiKey(key) };
    return isDone ? call.reply.header('cache-control', 'no-store').send(issued) : call.reply;
  });

  addCommandRoute(app, deps, routes.revokeKey, async (call) => {
    const parsed = parseBody(keyRevocationSchema, call.request.body);
    if (parsed.kind === 'refused') return sendErrors(call.reply, 400, parsed.errors);
    const { team } = parsed.value;
    const { keyId } = call.request.params as { keyId: string };
    const isDone = await change(deps, call, team, { type: 'RevokeKey', keyId });
    return isDone ? call.reply.send({ success: true, team }) : call.reply;
  });
}

/** Until this process counts what it has recorded; so long at most, milliseconds. */
const countsWithinMs = 2_000;
const lookEveryMs = 10;

async function untilCounted(
  { directory, clock }: TeamRouteDependencies,
  team: string,
  command: TeamCommand,
): Promise<void> {
  const giveUpAt = clock.monotonic() + countsWithinMs;
  while (!isCounted(directory.find(team), command) && clock.monotonic() < giveUpAt)
    await clock.sleep(lookEveryMs);
}

function isCounted(team: Team | undefined, command: TeamCommand): boolean {
  const keyId = 'keyId' in command ? command.keyId : undefined;
  const key = team?.keys.find((each) => each.keyId === keyId);
  if (command.type === 'IssueKey') return key !== undefined;
  return command.type === 'RevokeKey' ? key?.active === false : team !== undefined;
}

/** Resolves when the change counts here. False where it has answered a refusal. */
async function change(
  deps: TeamRouteDependencies,
  { cause: { actor }, reply }: CallerRequest,
  team: string,
  command: TeamCommand,
): Promise<boolean> {
  const { teamKeys } = deps;
  if (teamKeys === undefined) {
    sendError(reply, 'signing_key_missing');
    return false;
  }
  const refusal = await createTeams({ ...deps, teamKeys, actor }).change(team, () => [command]);
  if (refusal === undefined) await untilCounted(deps, team, command);
  else sendTeamRefusal(reply, refusal);
  return refusal === undefined;
}

const invalidTerms: Partial<Record<TeamRefusal['code'], [parameter: string, message: string]>> = {
  expiry_in_past: ['expiresAt', 'must be in the future'],
  network_invalid: ['networks', 'must be networks such as 10.20.0.0/16 or 2001:db8::/32'],
};

function sendTeamRefusal(reply: FastifyReply, { code }: TeamRefusal): FastifyReply {
  const [parameter, message] = invalidTerms[code] ?? [];
  if (parameter !== undefined && message !== undefined)
    return sendError(reply, 'invalid_param', { parameter, message: `${parameter} ${message}.` });
  if (!isAnswered(code)) throw new InvariantViolation(`a team has refused with ${code}`);
  return sendError(reply, code);
}

const answered = [
  'team_exists',
  'team_not_found',
  'key_exists',
  'key_not_found',
  'too_many_active_keys',
] as const;
const isAnswered = (code: string): code is (typeof answered)[number] & ErrorCode =>
  answered.some((each) => each === code);

function addReading(app: FastifyInstance, deps: TeamRouteDependencies): void {
  const { directory, clock } = deps;
  const isChangeable = deps.teamKeys !== undefined;

  addCommandRoute(app, deps, routes.listKeysOfAll, async ({ query, reply }) => {
    const { team, state, perPage, cursor } = query;
    const wanted = (team === undefined ? directory.names().toSorted() : [team]).flatMap((name) => {
      const keys = directory.find(name)?.keys ?? [];
      return keys.map((key) => ({ team: name, key, at: `${name}.${key.keyId}` }));
    });
    const from = cursor === undefined ? 0 : wanted.findIndex(({ at }) => at === cursor) + 1;
    if (cursor !== undefined && from === 0)
      return sendError(reply, 'invalid_param', {
        ...{ parameter: 'cursor', message: 'cursor is not one that this list has given as nextCursor.' },
      });
    const matching = wanted
      .slice(from)
      .filter(
        ({ key }) => state === undefined || (stateOf(key, clock.now()) === 'active') === (state === 'active'),
      );
    const shown = matching.slice(0, perPage);
    const keys = await Promise.all(shown.map((each) => toPublicKey(deps, each)));
    const nextCursor = matching.length > perPage ? shown.at(-1)?.at : undefined;
    return reply.send({ success: true, keys, isChangeable, perPage, ...given({ nextCursor }) });
  });

  addCommandRoute(app, deps, routes.retrieveTeam, async ({ request, reply }) => {
    const team = directory.find((request.params as { team: string }).team);
    return team === undefined
      ? sendError(reply, 'team_not_found')
      : reply.send({ success: true, team: toPublicTeam(team), isChangeable });
  });
}

const stateOf = (key: TeamKey, now: number): PublicKey['state'] =>
  !key.active ? 'revoked' : isExpired(key, now) ? 'expired' : 'active';

async function toPublicKey(
  { store, clock }: Pick<TeamRouteDependencies, 'store' | 'clock'>,
  { team, key }: { team: string; key: TeamKey },
): Promise<PublicKey> {
  const { keyId, environment, requestsPerSecondMax, networks, expiresAt } = key;
  const lastUsedAt = await lastUseOf(store, { team, keyId });
  return {
    ...{ team, keyId, environment, scopes: [...key.scopes], state: stateOf(key, clock.now()) },
    ...given({ requestsPerSecondMax, networks: networks && [...networks] }),
    ...given({ expiresAt: isoOf(expiresAt), lastUsedAt: isoOf(lastUsedAt) }),
  };
}

const isoOf = (at: number | undefined): string | undefined => (at === undefined ? undefined : toIso(at));

const toPublicTeam = ({ name, allowedOrigins, money: { wallet, approvals, limits } }: Team) => ({
  ...{ name, wallet, approvals, callbackOrigins: allowedOrigins.callback ?? [] },
  ...given({ redirectOrigins: allowedOrigins.redirect }),
  limits: limits.map(({ perCall, perDay, ...limit }) => ({
    ...limit,
    ...given({ perCall: perCall ?? undefined, perDay: perDay ?? undefined }),
  })),
});
