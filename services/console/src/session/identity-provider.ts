/**
 * Whom the identity provider of an organisation says that somebody is: OpenID Connect, by the code flow with PKCE. What the
 * answer is compared with is in a cookie of the browser that asked, so that nobody's answer signs somebody else in.
 */
import { type Grant, grantsSchema, mergeGrants } from '@tollgate/teams';
import { type Secret, isLoopbackAddress } from '@tollgate/service-kit';
import * as openid from 'openid-client';

export interface IdentityProviderConfig {
  /** Whose `/.well-known/openid-configuration` says the rest. */
  issuer: string;
  clientId: string;
  clientSecret: Secret;
  /** Where the gateway is reached by browsers, without a path. */
  publicUrl: string;
  /** What is asked for, separated by spaces. */
  scopes: string;
  /** Claim that names the person. */
  personClaim: string;
  groupsClaim: string;
  /** What members of each group are granted; members of several groups have all of it. */
  grantsOf: readonly { group: string; grant: Grant }[];
}

export const callbackPath = '/console/sign-in/organisation/callback';

/** What a sign-in began with. */
export interface Begun {
  state: string;
  nonce: string;
  verifier: string;
}

type Identified =
  | { kind: 'person'; person: string; grants: Grant[] }
  /** The provider vouches for the person, and none of the groups has a role here. */
  | { kind: 'no-role'; person: string };

export interface IdentityProvider {
  /** Where the browser is sent to. @throws where the provider cannot be reached */
  begin(): Promise<{ address: string; begun: Begun }>;
  /** @param query of the address that the browser came back to. @throws for every answer that is not the one that was begun */
  identify(query: string, begun: Begun): Promise<Identified>;
}

/** Of each request to the provider, seconds. */
const timeoutSeconds = 10;

export function createIdentityProvider(config: IdentityProviderConfig): IdentityProvider {
  const { issuer, clientId, scopes, publicUrl } = config;
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
    async begin() {
      const configuration = await provider();
      const verifier = openid.randomPKCECodeVerifier();
      const begun = { state: openid.randomState(), nonce: openid.randomNonce(), verifier };
      const address = openid.buildAuthorizationUrl(configuration, {
        ...{ client_id: clientId, redirect_uri: redirectUri, scope: scopes, response_type: 'code' },
        ...{ state: begun.state, nonce: begun.nonce },
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      return { address: address.href, begun };
    },
    async identify(query, { state, nonce, verifier }) {
      const tokens = await openid.authorizationCodeGrant(
        await provider(),
        new URL(`${redirectUri}?${query}`),
        {
          ...{
            expectedState: state,
            expectedNonce: nonce,
            pkceCodeVerifier: verifier,
            idTokenExpected: true,
          },
        },
      );
      return toIdentified(tokens.claims() ?? {}, config);
    },
  };
}

async function discover({
  issuer,
  clientId,
  clientSecret,
}: IdentityProviderConfig): Promise<openid.Configuration> {
  const url = new URL(issuer);
  const configuration = await openid.discovery(url, clientId, undefined, authenticationWith(clientSecret), {
    timeout: timeoutSeconds,
    execute: [
      // Else a man in the middle could vouch for anybody.
      openid.enableNonRepudiationChecks,
      // eslint-disable-next-line @typescript-eslint/no-deprecated -- on this machine only: there is nobody on the way
      ...(isLoopbackAddress(url.hostname) ? [openid.allowInsecureRequests] : []),
    ],
  });
  return configuration;
}

/** As the provider takes it. */
const authenticationWith =
  (secret: Secret): openid.ClientAuth =>
  (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported;
    const method =
      methods?.includes('client_secret_post') === true ? openid.ClientSecretPost : openid.ClientSecretBasic;
    method(secret.reveal())(server, ...rest);
  };

/** Names stand in logs and on pages. */
const personPattern = /^[\x21-\x7e]([\x20-\x7e]{0,126}[\x21-\x7e])?$/;

function toIdentified(
  claims: Readonly<Record<string, unknown>>,
  { personClaim, groupsClaim, grantsOf }: IdentityProviderConfig,
): Identified {
  const person = claims[personClaim];
  if (typeof person !== 'string' || !personPattern.test(person))
    throw new Error(`The claim ${personClaim} names nobody: it must be 1 to 128 printable ASCII characters.`);
  const groups = new Set([claims[groupsClaim]].flat());
  const merged = mergeGrants(grantsOf.filter(({ group }) => groups.has(group)).map(({ grant }) => grant));
  if (merged.length === 0) return { kind: 'no-role', person };
  const grants = grantsSchema.safeParse(merged);
  if (grants.success) return { kind: 'person', person, grants: grants.data };
  throw new Error(
    `The groups of ${person} grant too much for one person: ${grants.error.issues[0]?.message}.`,
  );
}
