/**
 * Credentials of people who operate the gateway, in place of a team's key: claims with a MAC under a secret that the services
 * share. `tgo.<kid>.<claims>.<mac>`; the claims are base64url of JSON.
 */
import { createHmac } from 'node:crypto';
import { type Clock, type Ids, type KeyedSecret, isSameText } from '@tollgate/service-kit';
import { z } from 'zod';
import type { TeamSigner, TeamVerifier } from '../signing/signed-events.ts';
import { type Grants, grantsSchema } from './grants.ts';

const uses = ['sign-in', 'session', 'api'] as const;
/** `sign-in`: a link, used once. `session`: a browser's cookie, which the API does not accept. `api`: accepted by the API. */
export type CredentialUse = (typeof uses)[number];

export const claimsSchema = z.strictObject({
  use: z.enum(uses),
  /** Unique, and not secret: people list and revoke by it. */
  id: z.string().regex(/^[0-9a-f]{24}$/),
  person: z.string().min(1).max(128),
  /** How the person was identified, as recorded in events. */
  source: z.enum(['command-line', 'oidc']),
  grants: grantsSchema,
  /** Milliseconds since the Unix epoch. */
  issuedAt: z.int(),
  expiresAt: z.int(),
  /** The person's last action, in a session and in credentials derived from it: the idle time starts then. */
  usedAt: z.int().exactOptional(),
});
export type OperatorClaims = z.infer<typeof claimsSchema>;

export interface Operator {
  person: string;
  source: OperatorClaims['source'];
  grants: Grants;
}

const personPrefix = 'person:';

/** Replaces the key id when a person calls: no key has this id, so that the approver is never mistaken for the requester. */
export const keyIdOfPerson = (person: string): string => `${personPrefix}${person}`;
export const isKeyIdOfPerson = (keyId: string): boolean => keyId.startsWith(personPrefix);

export type OperatorCredentials = ReturnType<typeof createOperatorCredentials>;

const pattern = /^tgo\.([A-Za-z0-9]{1,16})\.([A-Za-z0-9_-]{1,3500})\.([0-9a-f]{64})$/;
/** Browsers limit a cookie to 4,096 bytes. */
const textMax = 3_700;

/** @param secrets the first one signs; all of them verify */
export function createOperatorCredentials(
  secrets: readonly [KeyedSecret, ...KeyedSecret[]],
  { clock, ids }: { clock: Pick<Clock, 'now'>; ids: Pick<Ids, 'hex'> },
) {
  const [current] = secrets;
  const secretOf = (kid: string | undefined) => secrets.find((each) => each.kid === kid);

  /** @param lifetimeMs from now on */
  function newClaims(
    { person, source, grants }: Operator,
    use: CredentialUse,
    lifetimeMs: number,
  ): OperatorClaims {
    const issuedAt = clock.now();
    return {
      use,
      id: ids.hex(12),
      person,
      source,
      grants: [...grants],
      issuedAt,
      expiresAt: issuedAt + lifetimeMs,
    };
  }

  /** The text of a credential with these claims. */
  function seal(claims: OperatorClaims): string {
    const payload = Buffer.from(JSON.stringify(claimsSchema.parse(claims))).toString('base64url');
    return `tgo.${current.kid}.${payload}.${macOf(current, 'credential', payload)}`;
  }

  /** The claims of a credential for this use, including expired ones; undefined otherwise. */
  function read(text: string, use: CredentialUse): OperatorClaims | undefined {
    const [, kid, payload, mac] = text.length > textMax ? [] : (pattern.exec(text) ?? []);
    const secret = secretOf(kid);
    if (secret === undefined || payload === undefined || mac === undefined) return undefined;
    if (!isSameText(mac, macOf(secret, 'credential', payload))) return undefined;
    const claims = claimsSchema.safeParse(JSON.parse(Buffer.from(payload, 'base64url').toString())).data;
    return claims?.use === use ? claims : undefined;
  }

  return {
    newClaims,
    seal,
    read,
    issue: (operator: Operator, use: CredentialUse, lifetimeMs: number): string =>
      seal(newClaims(operator, use, lifetimeMs)),
    /** As `read`, without expired ones. */
    open(text: string, use: CredentialUse): OperatorClaims | undefined {
      const claims = read(text, use);
      return claims !== undefined && claims.expiresAt > clock.now() ? claims : undefined;
    },
    /** Signs and checks records about credentials: every service may, unlike for the keys of teams. */
    records: {
      kid: current.kid,
      kids: secrets.map(({ kid }) => kid),
      sign: (text) => ({ kid: current.kid, value: macOf(current, 'record', text) }),
      isSigned(text, { kid, value }) {
        const secret = secretOf(kid);
        return secret !== undefined && isSameText(value, macOf(secret, 'record', text));
      },
    } satisfies TeamSigner & TeamVerifier,
    /** A MAC for one purpose, which requires the secret. */
    mac: (purpose: string, text: string): string => macOf(current, purpose, text),
  };
}

/** Differs in kind from every other MAC under the same secret. */
const macOf = ({ secret }: KeyedSecret, purpose: string, text: string): string =>
  createHmac('sha256', secret.reveal())
    .update(JSON.stringify(['operator', purpose, text]))
    .digest('hex');
