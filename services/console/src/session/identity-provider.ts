/**
 * Verifies a person's identity with the organization's identity provider: OpenID Connect, authorization code flow with
 * PKCE. The expected values are in a cookie of the requesting browser, so that an answer cannot sign in another person.
 */
import { type Grant, grantsSchema, mergeGrants } from '@tollgate/teams';
import { type Clock, type Secret, omitUndefined, isLoopbackAddress } from '@tollgate/service-kit';
import * as openid from 'openid-client';

export interface IdentityProviderConfig {
  /** The issuer; the rest is in its `/.well-known/openid-configuration`. */
  issuer: string;
  clientId: string;
  clientSecret: Secret;
  /** URL of the gateway for browsers, without a path. */
  publicUrl: string;
  /** Requested scopes, separated by spaces. */
  scopes: string;
  /** Claim that identifies the person. */
  personClaim: string;
  groupsClaim: string;
  /** Accepted values of `acr` in the identity token; any if empty. */
  acrValues: readonly string[];
  /** Maximum age of the person's sign-in at the provider; unlimited if undefined. @unit seconds */
  maxAgeSeconds?: number | undefined;
  /** Grants of each group; members of several groups get all of them. */
  grantsOf: readonly { group: string; grant: Grant }[];
}

export const callbackPath = '/console/sign-in/organization/callback';

/** The initial state of a sign-in. */
export interface Begun {
  state: string;
  nonce: string;
  verifier: string;
}

type Identified =
  | { kind: 'person'; person: string; grants: Grant[] }
  /** The provider confirms the identity, but none of the person's groups has a role here. */
  | { kind: 'no-role'; person: string }
  /** The provider confirms the identity, but not in the way that this setting requires. */
  | { kind: 'too-weak'; person: string; setting: 'OIDC_ACR_VALUES' | 'OIDC_MAX_AGE_SECONDS' };

/** Timeout of each request to the provider. @unit seconds */
const timeoutSeconds = 10;

/** Maximum difference from the provider's clock. @unit seconds */
const clockToleranceSeconds = 60;

export type IdentityProvider = ReturnType<typeof createIdentityProvider>;

export function createIdentityProvider(
  config: IdentityProviderConfig,
  { clock }: { clock: Pick<Clock, 'now'> },
) {
  const { issuer, clientId, scopes, publicUrl, acrValues, maxAgeSeconds } = config;
  const redirectUri = `${publicUrl}${callbackPath}`;
  let known: Promise<openid.Configuration> | undefined;

  const provider = (): Promise<openid.Configuration> => {
    known ??= discover(config).catch((error: unknown) => {
      known = undefined;
      throw new Error(`The identity provider ${issuer} says nothing usable of itself.`, { cause: error });
    });
    return known;
  };

  return {
    /** URL to which the browser is redirected. @throws if the provider cannot be reached */
    async begin(): Promise<{ address: string; begun: Begun }> {
      const configuration = await provider();
      const verifier = openid.randomPKCECodeVerifier();
      const begun = { state: openid.randomState(), nonce: openid.randomNonce(), verifier };
      const address = openid.buildAuthorizationUrl(configuration, {
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: scopes,
        response_type: 'code',
        state: begun.state,
        nonce: begun.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...omitUndefined({
          acr_values: acrValues.length === 0 ? undefined : acrValues.join(' '),
          max_age: maxAgeSeconds?.toString(),
        }),
      });
      return { address: address.href, begun };
    },
    /** @param query of the URL the browser returned to. @throws if the answer does not match the started sign-in */
    async identify(query: string, { state, nonce, verifier }: Begun): Promise<Identified> {
      const tokens = await openid.authorizationCodeGrant(
        await provider(),
        new URL(`${redirectUri}?${query}`),
        { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true },
      );
      return toIdentified(tokens.claims() ?? {}, config, clock.now());
    },
  };
}

async function discover({
  issuer,
  clientId,
  clientSecret,
}: IdentityProviderConfig): Promise<openid.Configuration> {
  const url = new URL(issuer);
  return openid.discovery(url, clientId, undefined, authenticationWith(clientSecret), {
    timeout: timeoutSeconds,
    execute: [
      // Otherwise a man in the middle could impersonate anyone.
      openid.enableNonRepudiationChecks,
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- on this machine only: there is nobody on the way
      ...(isLoopbackAddress(url.hostname) ? [openid.allowInsecureRequests] : []),
    ],
  });
}

/** In the provider's format. */
const authenticationWith =
  (secret: Secret): openid.ClientAuth =>
  (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported;
    const method =
      methods?.includes('client_secret_post') === true ? openid.ClientSecretPost : openid.ClientSecretBasic;
    method(secret.reveal())(server, ...rest);
  };

/** Names appear in logs and on pages. */
const personPattern = /^[\x21-\x7e]([\x20-\x7e]{0,126}[\x21-\x7e])?$/;

function toIdentified(
  claims: Readonly<Record<string, unknown>>,
  config: IdentityProviderConfig,
  now: number,
): Identified {
  const { personClaim, groupsClaim, grantsOf } = config;
  const person = claims[personClaim];
  if (typeof person !== 'string' || !personPattern.test(person))
    throw new Error(`The claim ${personClaim} is invalid: it must be 1 to 128 printable ASCII characters.`);
  const setting = unmetIn(claims, config, now);
  if (setting !== undefined) return { kind: 'too-weak', person, setting };
  const groups = new Set([claims[groupsClaim]].flat());
  const merged = mergeGrants(grantsOf.filter(({ group }) => groups.has(group)).map(({ grant }) => grant));
  if (merged.length === 0) return { kind: 'no-role', person };
  const grants = grantsSchema.safeParse(merged);
  if (grants.success) return { kind: 'person', person, grants: grants.data };
  throw new Error(
    `The groups of ${person} grant too much for one person: ${grants.error.issues[0]?.message}.`,
  );
}

/** The setting that the provider's sign-in does not meet. The provider may ignore the request's parameters. */
function unmetIn(
  { acr, auth_time: authTime }: Readonly<Record<string, unknown>>,
  { acrValues, maxAgeSeconds }: Pick<IdentityProviderConfig, 'acrValues' | 'maxAgeSeconds'>,
  now: number,
): 'OIDC_ACR_VALUES' | 'OIDC_MAX_AGE_SECONDS' | undefined {
  if (acrValues.length > 0 && !acrValues.some((each) => each === acr)) return 'OIDC_ACR_VALUES';
  if (maxAgeSeconds === undefined) return undefined;
  const isRecent =
    typeof authTime === 'number' && authTime + maxAgeSeconds + clockToleranceSeconds >= now / 1_000;
  return isRecent ? undefined : 'OIDC_MAX_AGE_SECONDS';
}
