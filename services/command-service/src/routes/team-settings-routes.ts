/** Routes of team settings for operators: origins, wallet, approvals and limits. */
import { routes, sendError } from '@tollgate/gateway-api/http';
import { omitUndefined } from '@tollgate/service-kit';
import { type Reach, type Team, type TeamCommand, teamNameSchema } from '@tollgate/teams';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { type CallerRequest, addBodyRoute } from './route-kit.ts';
import { type TeamRouteDependencies, change } from './team-change.ts';

export function addTeamSettings(app: FastifyInstance, deps: TeamRouteDependencies): void {
  async function set(call: CallerRequest, command: TeamCommand): Promise<FastifyReply> {
    const { request, reply } = call;
    const { team } = request.params as { team: string };
    if (!teamNameSchema.safeParse(team).success) return sendError(reply, 'team_not_found');
    return change(deps, call, team, command, (changed) => ({
      team: toPublicTeam(changed, call.reach),
      isChangeable: true,
    }));
  }

  addBodyRoute(app, deps, routes.allowOrigins, (call) => set(call, { type: 'AllowOrigins', ...call.body }));
  addBodyRoute(app, deps, routes.chooseWallet, (call) => set(call, { type: 'ChooseWallet', ...call.body }));
  addBodyRoute(app, deps, routes.requireApproval, (call) =>
    set(call, { type: 'RequireApproval', ...call.body }),
  );
  addBodyRoute(app, deps, routes.limitMoney, (call) => {
    const { keyId, ...limit } = call.body;
    return set(call, { type: 'LimitMoney', ...limit, ...omitUndefined({ keyId }) });
  });
}

export const toPublicTeam = (
  { name, allowedOrigins, money: { wallet, approvals, limits } }: Team,
  reach: Reach,
) => ({
  approvals: approvals.filter(({ environment }) => reach.includes({ team: name, environment })),
  name,
  wallet,
  callbackOrigins: allowedOrigins.callback ?? [],
  ...omitUndefined({ redirectOrigins: allowedOrigins.redirect }),
  limits: limits
    .filter(({ environment }) => reach.includes({ team: name, environment }))
    .map(({ perCall, perDay, ...limit }) => ({
      ...limit,
      ...omitUndefined({ perCall: perCall ?? undefined, perDay: perDay ?? undefined }),
    })),
});
