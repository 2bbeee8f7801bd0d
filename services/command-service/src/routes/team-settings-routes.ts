/** Routes of team settings for operators: origins, wallet, approvals and limits. */
import {
  type Route,
  allowedOriginsSchema,
  approvalRuleSchema,
  limitRequestSchema,
  routes,
  sendError,
  walletChoiceSchema,
} from '@tollgate/gateway-api/http';
import { omitUndefined, sendErrors } from '@tollgate/service-kit';
import { type Reach, type Team, type TeamCommand, teamNameSchema } from '@tollgate/teams';
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import { parseBody } from './parsed.ts';
import { addCommandRoute } from './route-kit.ts';
import { type TeamRouteDependencies, change } from './team-change.ts';

export function addTeamSettings(app: FastifyInstance, deps: TeamRouteDependencies): void {
  function add<Schema extends z.ZodType>(
    route: Route,
    schema: Schema,
    toCommand: (terms: z.infer<Schema>) => TeamCommand,
  ): void {
    addCommandRoute(app, deps, route, async (call) => {
      const { request, reply } = call;
      const parsed = parseBody(schema, request.body);
      if (parsed.kind === 'refused') return sendErrors(reply, 400, parsed.errors);
      const { team } = request.params as { team: string };
      if (!teamNameSchema.safeParse(team).success) return sendError(reply, 'team_not_found');
      const changed = await change(deps, call, team, toCommand(parsed.value));
      return changed === undefined
        ? reply
        : reply.send({ success: true, team: toPublicTeam(changed, call.reach), isChangeable: true });
    });
  }

  add(routes.allowOrigins, allowedOriginsSchema, (terms) => ({ type: 'AllowOrigins', ...terms }));
  add(routes.chooseWallet, walletChoiceSchema, (terms) => ({ type: 'ChooseWallet', ...terms }));
  add(routes.requireApproval, approvalRuleSchema, (terms) => ({ type: 'RequireApproval', ...terms }));
  add(routes.limitMoney, limitRequestSchema, ({ keyId, ...limit }) => ({
    type: 'LimitMoney',
    ...limit,
    ...omitUndefined({ keyId }),
  }));
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
