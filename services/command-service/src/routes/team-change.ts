/** One change of a team: permission, refusal, and the wait of its answer. */
import { type ErrorCode, sendError } from '@tollgate/gateway-api/http';
import type { EventStore } from '@tollgate/event-store';
import { type Clock, type Ids, InvariantViolation } from '@tollgate/service-kit';
import { type Team, type TeamCommand, type TeamKeys, type TeamRefusal, createTeams } from '@tollgate/teams';
import type { FastifyReply } from 'fastify';
import type { CallerRequest, RouteKit } from './route-kit.ts';

export interface TeamRouteDependencies extends RouteKit {
  store: EventStore;
  clock: Clock;
  ids: Ids;
  /** Signs changes of teams; absent if this process must not have it. */
  teamKeys?: TeamKeys | undefined;
}

/** Answers when the change counts here, with the team as it is then. */
export async function change(
  deps: TeamRouteDependencies,
  { cause: { actor }, reply }: CallerRequest,
  name: string,
  command: TeamCommand,
  toAnswer: (team: Team) => object = () => ({ team: name }),
): Promise<FastifyReply> {
  const { teamKeys } = deps;
  if (teamKeys === undefined) return sendError(reply, 'signing_key_missing');
  const teams = createTeams({ ...deps, teamKeys, actor });
  const refusal = await teams.change(name, () => [command]);
  if (refusal !== undefined) return sendTeamRefusal(reply, refusal);
  await deps.directory.catchUp();
  const team = await teams.find(name);
  if (team === undefined) throw new InvariantViolation('a changed team does not exist');
  return reply.send({ success: true, ...toAnswer(team) });
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
