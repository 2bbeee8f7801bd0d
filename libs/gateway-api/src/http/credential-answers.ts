/** Answers of the routes of tokens and sessions. */
import { z } from 'zod';
import { oneOf, showing } from '../public-object.ts';
import type { RegisteredCredential } from '@tollgate/teams';
import { instant } from '../values.ts';
import { answer } from './answer-parts.ts';

const credentialSchema = z.object({
  id: z.string().describe('Names it for a revocation; grants no access.'),
  kind: oneOf(['token', 'session'], '`session`: a session of the console.'),
  person: z.string(),
  source: oneOf(['command-line', 'oidc'], 'How the person was identified.'),
  issuedAt: instant,
  expiresAt: instant.describe('At the latest.'),
  address: z.string().exactOptional().describe('Address from which the person signed in.'),
});

const toShown = showing(credentialSchema);

export const toPublicCredential = ({ use, ...credential }: RegisteredCredential) =>
  toShown({ ...credential, kind: use === 'api' ? 'token' : 'session' });

export const credentialAnswerSchemas = {
  BegunSession: answer({ session: z.string().describe('The cookie of the console.') }),
  Me: answer({
    person: z.string(),
    credential: z.string().describe('Id of the credential of this request.'),
    credentials: z.array(credentialSchema).describe('Oldest first.'),
  }),
  CredentialList: answer({
    credentials: z.array(credentialSchema),
    count: z.int().min(0).describe('Number of matches; at most 1,000 are listed.'),
  }),
  RevokedCredentials: answer({ revoked: z.array(credentialSchema).describe('The revoked credentials.') }),
} as const satisfies Record<string, z.ZodType>;
