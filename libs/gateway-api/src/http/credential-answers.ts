/** What the routes of tokens and sessions answer. */
import { z } from 'zod';
import { oneOf } from '../public-object.ts';
import type { RegisteredCredential } from '@tollgate/teams';
import { omitUndefined } from '@tollgate/service-kit';
import { instant, toIso } from '../values.ts';

const success = z.literal(true);

const credentialSchema = z.object({
  id: z.string().describe('Revokes it; opens nothing.'),
  kind: oneOf(['token', 'session'], '`session`: of the console.'),
  person: z.string(),
  source: oneOf(['command-line', 'oidc'], 'How the name is known.'),
  issuedAt: instant,
  expiresAt: instant.describe('At the latest.'),
  address: z.string().exactOptional().describe('Where the person signed in from.'),
});

export const toPublicCredential = ({
  use,
  address,
  ...credential
}: RegisteredCredential): z.infer<typeof credentialSchema> => ({
  id: credential.id,
  kind: use === 'api' ? 'token' : 'session',
  person: credential.person,
  source: credential.source,
  issuedAt: toIso(credential.issuedAt),
  expiresAt: toIso(credential.expiresAt),
  ...omitUndefined({ address }),
});

export const credentialAnswerSchemas = {
  BegunSession: z.object({ success, session: z.string().describe('The cookie of the console.') }),
  Me: z.object({
    success,
    person: z.string(),
    credential: z.string().describe('The id of what this request was made with.'),
    credentials: z.array(credentialSchema).describe('Oldest first.'),
  }),
  CredentialList: z.object({
    success,
    credentials: z.array(credentialSchema),
    count: z.int().min(0).describe('All that match; at most 1,000 are listed.'),
  }),
  RevokedCredentials: z.object({
    success,
    revoked: z.array(credentialSchema).describe('What counted until now.'),
  }),
} as const satisfies Record<string, z.ZodType>;
