/** Teams and their keys, for people who operate the gateway. */
import { keyListSchema, noQuerySchema } from './queries.ts';
import { done, ofCommands } from './route-parts.ts';
import type { Route } from './routes.ts';

const ofOperators = { service: 'command-service', tag: 'Operators' } as const;
const managed = { scopes: ['operators:manage'] } as const;

const whereSigned =
  'Only where the gateway has the key that changes of teams are signed with: one process with all services and that key in its data directory. Elsewhere `tollgate` does it, where the key is.';

export const teamRoutes = {
  listKeysOfAll: {
    ...{ ...ofOperators, method: 'GET', url: '/api/v1/admin/keys' },
    summary: 'Lists the API keys of all teams, by team, with their last use',
    ...{ scopes: ['operators:read'], query: keyListSchema },
    answers: done('One page.', 'KeyList'),
    errors: ['invalid_param', 'store_unavailable'],
  },
  retrieveTeam: {
    ...{ ...ofOperators, method: 'GET', url: '/api/v1/admin/teams/:team' },
    summary: 'Shows a team: where its URLs may point, what its payouts are taken from, and its limits',
    ...{ scopes: ['operators:read'], query: noQuerySchema },
    answers: done('The team.', 'TeamDetails'),
    errors: ['team_not_found', 'store_unavailable'],
  },
  addTeam: {
    ...{ ...ofOperators, method: 'POST', url: '/api/v1/admin/teams' },
    summary: 'Adds a team, without a key',
    description: whereSigned,
    ...managed,
    body: { schema: 'NewTeam', example: { team: 'shop' } },
    answers: done('The team is there.', 'ChangedTeam'),
    errors: ['team_exists', 'signing_key_missing', ...ofCommands],
  },
  issueKey: {
    ...{ ...ofOperators, method: 'POST', url: '/api/v1/admin/keys' },
    summary: 'Issues an API key for a team, and shows its text this once',
    description: `Two keys of an environment may be active, so that one replaces the other. With a \`keyId\` of yours, a repeat issues no second key.\n\n${whereSigned}`,
    ...managed,
    body: {
      schema: 'NewKey',
      example: { team: 'shop', environment: 'sandbox', scopes: ['payments', 'read'] },
    },
    answers: done('The key.', 'IssuedKey'),
    errors: [
      ...(['team_not_found', 'key_exists', 'too_many_active_keys', 'signing_key_missing'] as const),
      ...ofCommands,
    ],
  },
  revokeKey: {
    ...{ ...ofOperators, method: 'POST', url: '/api/v1/admin/keys/:keyId/revoke' },
    summary: 'Revokes an API key for good',
    description: `It is refused within a second. A repeat changes nothing.\n\n${whereSigned}`,
    ...managed,
    body: { schema: 'KeyRevocation', example: { team: 'shop' } },
    answers: done('It is revoked.', 'ChangedTeam'),
    errors: ['team_not_found', 'key_not_found', 'signing_key_missing', ...ofCommands],
  },
} satisfies Record<string, Route>;
