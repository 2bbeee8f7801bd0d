/** Configuration of sign-in by OpenID Connect: provider, groups and roles. */
import type { IdentityProviderConfig } from '@tollgate/console';
import { isLoopbackAddress, secretSchema, wholeNumberSchema, wrongVariable } from '@tollgate/service-kit';
import { parseGrant } from '@tollgate/teams';
import { z } from 'zod';

const claimRule = 'must be the name of a claim, without spaces';
const claimSchema = z.string().regex(/^\S{1,128}$/, claimRule);

/** The environment variables of signing in. Without `OIDC_ISSUER`, people sign in by links that the command line prints. */
export const oidcEnvironmentSchema = z.object({
  OIDC_ISSUER: z
    .string()
    .optional()
    .describe(
      'Issuer URL (https) of the OpenID Connect provider for the console. If unset, people sign in by `tollgate operator link` only.',
    ),
  OIDC_CLIENT_ID: z.string().optional().describe('OpenID Connect client id of the gateway.'),
  OIDC_CLIENT_SECRET: secretSchema.describe('OpenID Connect client secret of the gateway.'),
  CONSOLE_PUBLIC_URL: z
    .string()
    .optional()
    .describe(
      'Public URL (https, without a path) of the gateway for browsers. The redirect URI is `/console/sign-in/organization/callback` below it.',
    ),
  OIDC_SCOPES: z.string().default('openid').describe('Requested scopes, separated by spaces.'),
  OIDC_PERSON_CLAIM: claimSchema
    .default('sub')
    .describe(
      'Claim that identifies the person in the security log and in events. People must not be able to choose its value.',
    ),
  OIDC_GROUPS_CLAIM: claimSchema.default('groups').describe('Claim that lists the groups of the person.'),
  OIDC_ACR_VALUES: z
    .string()
    .regex(/^[\x21-\x7e]+( [\x21-\x7e]+)*$/, 'must be texts without spaces, separated by spaces')
    .optional()
    .describe(
      'Accepted `acr` values of the identity token, separated by spaces. Use them to require a second factor. Any value is accepted if unset.',
    ),
  OIDC_MAX_AGE_SECONDS: wholeNumberSchema({ of: 'seconds', min: 0, max: 86_400 })
    .optional()
    .describe(
      'Maximum age of a sign-in at the provider (`max_age`, checked by `auth_time`). 0 requires a new sign-in each time. Unlimited if unset.',
    ),
  OIDC_GRANTS: z
    .string()
    .optional()
    .describe(
      'Roles by group: `role:teams:environments=group`, separated by semicolons, such as `admin=payments-admins; lead:shop=shop-leads; support:shop,games:sandbox=game-support`. `*` means all teams. Without teams, a role applies to all of them, and without environments to both.',
    ),
});
type Environment = z.infer<typeof oidcEnvironmentSchema>;

/** Undefined if this sign-in is not configured. @throws StartupError with the invalid variable */
export function toOidcConfig(env: Environment): IdentityProviderConfig | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = env;
  if (issuer === undefined) return undefined;
  const { CONSOLE_PUBLIC_URL: publicUrl } = env;
  if (clientId === undefined || clientSecret === undefined || publicUrl === undefined)
    throw wrongVariable('OIDC_ISSUER requires OIDC_CLIENT_ID, OIDC_CLIENT_SECRET and CONSOLE_PUBLIC_URL');
  if (!env.OIDC_SCOPES.split(' ').includes('openid'))
    throw wrongVariable('OIDC_SCOPES must be a list with openid');
  const grantsOf = parseGrants(env.OIDC_GRANTS ?? '');
  if (grantsOf.length === 0) throw wrongVariable('No group has a role: set OIDC_GRANTS');
  return {
    issuer: httpsUrl('OIDC_ISSUER', issuer).href,
    clientId,
    clientSecret,
    publicUrl: originOf('CONSOLE_PUBLIC_URL', publicUrl),
    scopes: env.OIDC_SCOPES,
    personClaim: env.OIDC_PERSON_CLAIM,
    groupsClaim: env.OIDC_GROUPS_CLAIM,
    acrValues: env.OIDC_ACR_VALUES?.split(' ') ?? [],
    maxAgeSeconds: env.OIDC_MAX_AGE_SECONDS,
    grantsOf,
  };
}

type GroupGrant = IdentityProviderConfig['grantsOf'][number];

/** The group is last, because its name may contain anything but a semicolon. */
function parseGrants(text: string): GroupGrant[] {
  const entries = text.split(';').map((entry) => entry.trim());
  return entries
    .filter((entry) => entry !== '')
    .map((entry) => {
      const [, granted, group] = /^([^=]+)=\s*(\S.*)$/.exec(entry) ?? [];
      if (granted === undefined || group === undefined)
        throw wrongVariable(`OIDC_GRANTS: "${entry}" must be role:teams:environments=group`);
      try {
        return { group, grant: parseGrant(granted) };
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        throw wrongVariable(`OIDC_GRANTS: "${entry}" cannot be used. ${error.message.replace(/\.$/, '')}`);
      }
    });
}

/** Without TLS, anyone between us and the provider could sign in as any person. */
function httpsUrl(name: string, text: string): URL {
  const url = URL.parse(text);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopbackAddress(url.hostname));
  if (
    url === null ||
    !isSafe ||
    [url.username, url.password, url.search, url.hash].some((part) => part !== '')
  )
    throw wrongVariable(`${name} must be an https URL without user name, query and fragment`);
  return url;
}

function originOf(name: string, text: string): string {
  const url = httpsUrl(name, text);
  if (url.pathname !== '/') throw wrongVariable(`${name} must be an https URL without a path`);
  return url.origin;
}
