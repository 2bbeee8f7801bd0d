/** The tokens and sessions of people: each person's own, and for admins those of others. */
import { credentialListSchema, noQuerySchema } from './queries.ts';
import { done, get, post } from './route-parts.ts';
import type { Route } from './routes.ts';

const effect = 'Every process rejects them within about a second, even after a restart.';

export const credentialRoutes = {
  signIn: {
    ...post('command-service', 'Operators', '/api/v1/admin/sign-ins'),
    summary: 'Begins a session of the console with a link of `tollgate operator link`',
    description: 'Send the link as the bearer of `Authorization`. It works once.',
    scopes: ['sign-in'],
    bound: 'person',
    answers: done('The session has begun.', 'BegunSession'),
    errors: ['sign_in_link_used'],
  },
  showMe: {
    ...get('query-service', 'Operators', '/api/v1/admin/me'),
    summary: 'Shows who you are, and your tokens and sessions',
    scopes: ['self'],
    bound: 'person',
    query: noQuerySchema,
    answers: done('You.', 'Me'),
  },
  revokeOwnCredentials: {
    ...post('command-service', 'Operators', '/api/v1/admin/me/revoke'),
    summary: 'Revokes one of your tokens and sessions, or all of them without `credentialId`',
    description: `To revoke all also ends links to sign in that were not used yet. ${effect}`,
    scopes: ['self'],
    bound: 'person',
    body: {
      schema: 'OwnCredentialRevocation',
      example: { credentialId: '0123456789abcdef01234567' },
      isOptional: true,
    },
    answers: done('They are revoked.', 'RevokedCredentials'),
    errors: ['credential_not_found'],
  },
  listCredentials: {
    ...get('query-service', 'Operators', '/api/v1/admin/credentials'),
    summary: 'Lists the tokens and sessions of all people, or of one',
    description: 'A token or session is listed until it expires or is revoked. Its secret is never shown.',
    scopes: ['operators:manage'],
    bound: 'installation',
    query: credentialListSchema,
    answers: done('By person, oldest first.', 'CredentialList'),
  },
  revokeCredentials: {
    ...post('command-service', 'Operators', '/api/v1/admin/credentials/revoke'),
    summary: 'Revokes a token or session, or everything of a person',
    description: `Name one of \`credentialId\` and \`person\`. To revoke everything of a person also ends links to sign in that were not used yet. ${effect}`,
    scopes: ['operators:manage'],
    bound: 'installation',
    body: { schema: 'CredentialRevocation', example: { person: 'ada@example.com' } },
    answers: done('They are revoked.', 'RevokedCredentials'),
    errors: ['credential_not_found'],
  },
} satisfies Record<string, Route>;
