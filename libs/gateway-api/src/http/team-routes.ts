/** Teams and their keys, for operators. */
import { keyListSchema, noQuerySchema } from './queries.ts';
import { done, get, post } from './route-parts.ts';
import type { Route } from './routes.ts';

const ofOperators = { service: 'command-service', tag: 'Operators' } as const;
const managed = { scopes: ['operators:manage'], bound: 'named-team' } as const;
/** Settings that affect other teams as well. */
const managedForAll = { scopes: ['operators:manage'], bound: 'installation' } as const;

const whereSigned =
  'Requires the signing key for changes of teams: one process with all services and that key in its data directory. Otherwise use `tollgate` on the host with the key.';

const changing = {
  ...ofOperators,
  ...managed,
  method: 'POST',
  answers: done('The current team.', 'TeamDetails'),
} as const;
const ofChanges = ['team_not_found', 'signing_key_missing'] as const;

export const teamRoutes = {
  listKeysOfAll: {
    ...get('command-service', 'Operators', '/api/v1/admin/keys'),
    summary: 'Lists the API keys of all teams, by team, with their last use',
    scopes: ['operators:read'],
    bound: 'teams',
    query: keyListSchema,
    answers: done('One page.', 'KeyList'),
  },
  retrieveTeam: {
    ...get('command-service', 'Operators', '/api/v1/admin/teams/:team'),
    summary: 'Shows a team: allowed origins, source of payouts, and limits',
    scopes: ['operators:read'],
    bound: 'teams',
    query: noQuerySchema,
    answers: done('The team.', 'TeamDetails'),
    errors: ['team_not_found'],
  },
  addTeam: {
    ...post('command-service', 'Operators', '/api/v1/admin/teams'),
    summary: 'Adds a team, without a key',
    description: whereSigned,
    ...managedForAll,
    body: { schema: 'TeamRequest', example: { team: 'shop' } },
    answers: done('The team exists.', 'ChangedTeam'),
    errors: ['team_exists', 'signing_key_missing'],
  },
  issueKey: {
    ...post('command-service', 'Operators', '/api/v1/admin/keys'),
    summary: 'Issues an API key for a team, and shows it once',
    description: `Two keys of an environment may be active, so that one replaces the other. With your own \`keyId\`, a repeat issues no second key.\n\n${whereSigned}`,
    scopes: ['operators:teams'],
    bound: 'named-team',
    body: {
      schema: 'KeyRequest',
      example: { team: 'shop', environment: 'sandbox', scopes: ['payments', 'read'] },
    },
    answers: done('The key.', 'IssuedKey'),
    errors: ['team_not_found', 'key_exists', 'too_many_active_keys', 'signing_key_missing'],
  },
  revokeKey: {
    ...post('command-service', 'Operators', '/api/v1/admin/keys/:keyId/revoke'),
    summary: 'Revokes an API key permanently',
    description: `It is rejected within a second. A repeat changes nothing.\n\n${whereSigned}`,
    scopes: ['operators:teams'],
    bound: 'teams',
    body: { schema: 'KeyRevocation', example: { team: 'shop' } },
    answers: done('It is revoked.', 'ChangedTeam'),
    errors: ['team_not_found', 'key_not_found', 'signing_key_missing'],
  },
  allowOrigins: {
    ...changing,
    url: '/api/v1/admin/teams/:team/origins',
    summary: 'Sets the allowed origins of a team',
    description: `The list replaces the previous one. An origin is \`https://host[:port]\`, or on the gateway's machine \`http://localhost:8080\`, \`http://127.0.0.1:*\` (any port). An empty list allows no URL.\n\n${whereSigned}`,
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
    summary: 'Sets the source of the payouts of a team',
    description: `\`own\`: the team's own wallet. \`shared\`: a wallet shared by all teams that name it. \`provider\`: the provider's balance, including the money of other teams.\n\n${whereSigned}`,
    body: { schema: 'WalletChoice', example: { wallet: { kind: 'shared', name: 'group' } } },
    errors: [...ofChanges],
  },
  requireApproval: {
    ...changing,
    url: '/api/v1/admin/teams/:team/approvals',
    summary: 'Sets the amount above which payouts need approval',
    description: `\`above\` is in minor units; 0: every payout waits; null: none. It replaces the rule of this environment and currency.\n\n${whereSigned}`,
    body: { schema: 'ApprovalRule', example: { environment: 'production', currency: 'EUR', above: 100_000 } },
    errors: ['incorrect_currency', ...ofChanges],
  },
  limitMoney: {
    ...changing,
    url: '/api/v1/admin/teams/:team/limits',
    summary: 'Limits the amounts of a team or key per call and per day (UTC)',
    description: `In minor units. It replaces the limit of this environment, operation, currency and key. Null means not limited; two nulls remove the limit.\n\n${whereSigned}`,
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
