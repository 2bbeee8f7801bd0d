/** Teams and their keys, for people who operate the gateway. */
import { keyListSchema, noQuerySchema } from './queries.ts';
import { done, ofCommands } from './route-parts.ts';
import type { Route } from './routes.ts';

const ofOperators = { service: 'command-service', tag: 'Operators' } as const;
const managed = { scopes: ['operators:manage'], bound: 'named-team' } as const;
/** What concerns other teams as well. */
const managedForAll = { scopes: ['operators:manage'], bound: 'installation' } as const;

const whereSigned =
  'Only where the gateway has the key that changes of teams are signed with: one process with all services and that key in its data directory. Elsewhere `tollgate` does it, where the key is.';

const changing = {
  ...ofOperators,
  ...managed,
  method: 'POST',
  answers: done('The team as it is now.', 'TeamDetails'),
} as const;
const ofChanges = ['team_not_found', 'signing_key_missing', ...ofCommands] as const;

export const teamRoutes = {
  listKeysOfAll: {
    ...ofOperators,
    method: 'GET',
    url: '/api/v1/admin/keys',
    summary: 'Lists the API keys of all teams, by team, with their last use',
    scopes: ['operators:read'],
    bound: 'teams',
    query: keyListSchema,
    answers: done('One page.', 'KeyList'),
    errors: ['invalid_param', 'store_unavailable'],
  },
  retrieveTeam: {
    ...ofOperators,
    method: 'GET',
    url: '/api/v1/admin/teams/:team',
    summary: 'Shows a team: where its URLs may point, what its payouts are taken from, and its limits',
    scopes: ['operators:read'],
    bound: 'teams',
    query: noQuerySchema,
    answers: done('The team.', 'TeamDetails'),
    errors: ['team_not_found', 'store_unavailable'],
  },
  addTeam: {
    ...ofOperators,
    method: 'POST',
    url: '/api/v1/admin/teams',
    summary: 'Adds a team, without a key',
    description: whereSigned,
    ...managedForAll,
    body: { schema: 'TeamRequest', example: { team: 'shop' } },
    answers: done('The team is there.', 'ChangedTeam'),
    errors: ['team_exists', 'signing_key_missing', ...ofCommands],
  },
  issueKey: {
    ...ofOperators,
    method: 'POST',
    url: '/api/v1/admin/keys',
    summary: 'Issues an API key for a team, and shows its text this once',
    description: `Two keys of an environment may be active, so that one replaces the other. With a \`keyId\` of yours, a repeat issues no second key.\n\n${whereSigned}`,
    scopes: ['operators:teams'],
    bound: 'named-team',
    body: {
      schema: 'KeyRequest',
      example: { team: 'shop', environment: 'sandbox', scopes: ['payments', 'read'] },
    },
    answers: done('The key.', 'IssuedKey'),
    errors: [
      ...(['team_not_found', 'key_exists', 'too_many_active_keys', 'signing_key_missing'] as const),
      ...ofCommands,
    ],
  },
  revokeKey: {
    ...ofOperators,
    method: 'POST',
    url: '/api/v1/admin/keys/:keyId/revoke',
    summary: 'Revokes an API key for good',
    description: `It is refused within a second. A repeat changes nothing.\n\n${whereSigned}`,
    scopes: ['operators:teams'],
    bound: 'teams',
    body: { schema: 'KeyRevocation', example: { team: 'shop' } },
    answers: done('It is revoked.', 'ChangedTeam'),
    errors: ['team_not_found', 'key_not_found', 'signing_key_missing', ...ofCommands],
  },
  allowOrigins: {
    ...changing,
    url: '/api/v1/admin/teams/:team/origins',
    summary: 'Sets where the URLs of a team may point',
    description: `The list takes the place of the one before. An origin is \`https://host[:port]\`, or of the gateway's machine: \`http://localhost:8080\`, \`http://127.0.0.1:*\` (any port). An empty list of the purpose \`callback\` sends the team no webhooks, one of \`redirect\` sends customers nowhere.\n\n${whereSigned}`,
    body: {
      schema: 'AllowedOrigins',
      example: { purpose: 'callback', origins: ['https://shop.example'] },
    },
    errors: [...ofChanges],
  },
  chooseWallet: {
    ...changing,
    ...managedForAll,
    url: '/api/v1/admin/teams/:team/wallet',
    summary: 'Chooses what the payouts of a team are taken from',
    description: `\`own\`: what the team took itself, less what it refunded and paid out. \`shared\`: the same of all teams that name this wallet, together. \`provider\`: whatever the provider has, the money of other teams, too.\n\n${whereSigned}`,
    body: { schema: 'WalletChoice', example: { wallet: { kind: 'shared', name: 'group' } } },
    errors: [...ofChanges],
  },
  requireApproval: {
    ...changing,
    url: '/api/v1/admin/teams/:team/approvals',
    summary: 'Lets payouts above a sum wait until a second key approves them',
    description: `\`above\` is in minor units; 0: every payout waits; null: none. It takes the place of the rule of this environment and currency.\n\n${whereSigned}`,
    body: {
      schema: 'ApprovalRule',
      example: { environment: 'production', currency: 'EUR', above: 100_000 },
    },
    errors: ['incorrect_currency', ...ofChanges],
  },
  limitMoney: {
    ...changing,
    url: '/api/v1/admin/teams/:team/limits',
    summary: 'Limits the amounts of a team or key per call and per day (UTC)',
    description: `In minor units. It takes the place of the limit of this environment, operation, currency and key. A sum that is null is not limited; where both are, the limit is lifted.\n\n${whereSigned}`,
    body: {
      schema: 'LimitRequest',
      example: {
        environment: 'production',
        operation: 'payout',
        currency: 'EUR',
        perCall: 500_000,
        perDay: 2_000_000,
      },
    },
    errors: ['key_not_found', 'incorrect_currency', ...ofChanges],
  },
} satisfies Record<string, Route>;
