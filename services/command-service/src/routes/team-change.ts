/** One change of a team: permission, refusal, and the wait of its answer. */
import { type ErrorCode, sendError } from '@tollgate/gateway-api/http';
import type { EventStore } from '@tollgate/event-store';
import { type Clock, type Ids, InvariantViolation } from '@tollgate/service-kit';
import {
  type TeamCommand,
  type TeamKeys,
  type TeamRefusal,
  type TeamState,
  createTeams,
} from '@tollgate/teams';
import type { FastifyReply } from 'fastify';
import type { CallerRequest, RouteKit } from './route-kit.ts';

export interface TeamRouteDependencies extends RouteKit {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  /** Signs changes of teams; absent if this process must not have it. */
  teamKeys?: TeamKeys | undefined;
}

/** Resolves when the change counts here, with the team as it is then. Undefined if it has answered a refusal. */
export async function change(
  deps: TeamRouteDependencies,
  { cause: { actor }, reply }: CallerRequest,
  team: string,
  command: TeamCommand,
): Promise<TeamState> {
  const { teamKeys } = deps;
  if (teamKeys === undefined) {
    sendError(reply, 'signing_key_missing');
    return undefined;
  }
  const teams = createTeams({ ...deps, teamKeys, actor });
  const refusal = await teams.change(team, () => [command]);
  if (refusal !== undefined) {
    sendTeamRefusal(reply, refusal);
    return undefined;
  }
  await deps.directory.catchUp();
  return teams.find(team);
}

const invalidTerms: Partial<Record<TeamRefusal['code'], [parameter: string, message: string]>> = {
  origin_invalid: [
    'origins',
    'must be origins such as https://shop.example, or http:// and a host of this machine',
  ],
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
