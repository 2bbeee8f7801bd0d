/** Where people sign in with accounts of their organisation, and which of its groups have which role. */
import type { IdentityProviderConfig } from '@tollgate/console';
import { Secret, StartupError, isLoopbackAddress } from '@tollgate/service-kit';
import { z } from 'zod';

const groupsSchema = z.string().transform((text) =>
  text
    .split(',')
    .map((group) => group.trim())
    .filter((group) => group !== ''),
);

const groupsOf = (may: string) =>
  groupsSchema.optional().describe(`Groups whose members ${may}, separated by commas; nobody's unless set.`);

const claimRule = 'must be the name of a claim, without spaces';
const claimSchema = z.string().regex(/^\S{1,128}$/, claimRule);

/** The environment variables of signing in. Without `OIDC_ISSUER`, people sign in by links that the command line prints. */
export const oidcEnvironmentSchema = z.object({
  OIDC_ISSUER: z
    .string()
    .optional()
    .describe(
      'The identity provider (OpenID Connect) that people sign in to the console with: the issuer, an https URL; without it, only links of `tollgate operator link` do.',
    ),
  OIDC_CLIENT_ID: z.string().optional().describe('What the provider knows the gateway by.'),
  OIDC_CLIENT_SECRET: z
    .string()
    .transform((text) => new Secret(text))
    .optional()
    .describe('The secret that goes with it.'),
  CONSOLE_PUBLIC_URL: z
    .string()
    .optional()
    .describe(
      'Where browsers reach the gateway, an https URL without a path. The provider sends people back to its `/console/sign-in/organisation/callback`.',
    ),
  OIDC_SCOPES: z.string().default('openid').describe('What is asked for, separated by spaces.'),
  OIDC_PERSON_CLAIM: claimSchema
    .default('sub')
    .describe(
      'Claim that names the person in the security log and in events: one that nobody can choose for himself.',
    ),
  OIDC_GROUPS_CLAIM: claimSchema.default('groups').describe('Claim with the groups of the person.'),
  OIDC_VIEWERS: groupsOf('have the role `viewer`'),
  OIDC_SUPPORT: groupsOf('have the role `support`'),
  OIDC_OPERATORS: groupsOf('have the role `operator`'),
  OIDC_ADMINS: groupsOf('have the role `admin`'),
});
type Environment = z.infer<typeof oidcEnvironmentSchema>;

/** Undefined where nobody signs in that way. @throws StartupError that names the variable that is wrong */
export function toOidcConfig(env: Environment): IdentityProviderConfig | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = env;
  if (issuer === undefined) return undefined;
  const { CONSOLE_PUBLIC_URL: publicUrl } = env;
  if (clientId === undefined || clientSecret === undefined || publicUrl === undefined)
    throw wrong('OIDC_ISSUER needs OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and CONSOLE_PUBLIC_URL beside it');
  if (!env.OIDC_SCOPES.split(' ').includes('openid')) throw wrong('OIDC_SCOPES must be a list with openid');
  const groupsOfRoles = {
    ...{ viewer: env.OIDC_VIEWERS ?? [], support: env.OIDC_SUPPORT ?? [] },
    ...{ operator: env.OIDC_OPERATORS ?? [], admin: env.OIDC_ADMINS ?? [] },
  };
  if (Object.values(groupsOfRoles).every((groups) => groups.length === 0))
    throw wrong('OIDC_ISSUER lets nobody in: set OIDC_VIEWERS, OIDC_SUPPORT, OIDC_OPERATORS or OIDC_ADMINS');
  return {
    ...{ issuer: httpsUrl('OIDC_ISSUER', issuer).href, clientId, clientSecret },
    publicUrl: originOf('CONSOLE_PUBLIC_URL', publicUrl),
    ...{ scopes: env.OIDC_SCOPES, personClaim: env.OIDC_PERSON_CLAIM, groupsClaim: env.OIDC_GROUPS_CLAIM },
    groupsOf: groupsOfRoles,
  };
}

/** Without TLS, anyone between us and the provider could vouch for anybody. */
function httpsUrl(name: string, text: string): URL {
  const url = URL.parse(text);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackAddress(url.hostname));
  if (
    url === null ||
    !isSafe ||
    [url.username, url.password, url.search, url.hash].some((part) => part !== '')
  )
    throw wrong(`${name} must be an https URL without user name, query and fragment`);
  return url;
}

function originOf(name: string, text: string): string {
  const url = httpsUrl(name, text);
  if (url.pathname !== '/') throw wrong(`${name} must be an https URL without a path`);
  return url.origin;
}

const wrong = (what: string) => new StartupError('config_invalid', `${what}.`);
