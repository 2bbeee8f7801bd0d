/**
 * What people who operate the gateway show instead of a team's key: a text with claims and a MAC over them, under a secret
 * that the services share. `tgo.<kid>.<claims>.<mac>`; the claims are base64url of JSON.
 */
import { createHmac } from 'node:crypto';
import { type Clock, type Ids, type KeyedSecret, isSameText } from '@tollgate/service-kit';
import { z } from 'zod';
import type { TeamSigner, TeamVerifier } from '../signing/signing-keys.ts';
import { type Grants, grantsSchema } from './grants.ts';

const uses = ['sign-in', 'session', 'api'] as const;
/** `sign-in`: a link, for once. `session`: a browser's cookie, which the API does not take. `api`: what the API takes. */
export type CredentialUse = (typeof uses)[number];

export const claimsSchema = z.strictObject({
  use: z.enum(uses),
  /** Unique. It is no secret: people list and revoke by it. */
  id: z.string().regex(/^[0-9a-f]{24}$/),
  person: z.string().min(1).max(128),
  /** How the name is known, as events record it. */
  source: z.enum(['command-line', 'oidc']),
  grants: grantsSchema,
  /** Milliseconds since the Unix epoch. */
  issuedAt: z.int(),
  expiresAt: z.int(),
  /** When its person last acted, in a session and what the console makes of it: from then on the idle time counts. */
  usedAt: z.int().exactOptional(),
});
export type OperatorClaims = z.infer<typeof claimsSchema>;

export interface Operator {
  person: string;
  source: OperatorClaims['source'];
  grants: Grants;
}

const personPrefix = 'person:';

/** Stands for a key where a person calls: an id that no key has, so that the approver is never mistaken for the requester. */
export const keyIdOfPerson = (person: string): string => `${personPrefix}${person}`;
export const isKeyIdOfPerson = (keyId: string): boolean => keyId.startsWith(personPrefix);

export interface OperatorCredentials {
  /** @param lifetimeMs from now on */
  issue(operator: Operator, use: CredentialUse, lifetimeMs: number): string;
  newClaims(operator: Operator, use: CredentialUse, lifetimeMs: number): OperatorClaims;
  /** The text of a credential with these claims. */
  seal(claims: OperatorClaims): string;
  /** The claims of a credential for this use that has not expired; undefined for everything else. */
  open(text: string, use: CredentialUse): OperatorClaims | undefined;
  /** As `open`, of one that may have expired. */
  read(text: string, use: CredentialUse): OperatorClaims | undefined;
  /** A text that only who has the secret can make, for one purpose. */
  mac(purpose: string, text: string): string;
  /** Signs and checks what is recorded about credentials: every service may, unlike with the keys of teams. */
  records: TeamSigner & TeamVerifier;
}

const pattern = /^tgo\.([A-Za-z0-9]{1,16})\.([A-Za-z0-9_-]{1,3500})\.([0-9a-f]{64})$/;
/** Of a cookie, browsers keep 4,096 bytes. */
const textMax = 3_700;

/** @param secrets the first one signs; all of them count */
export function createOperatorCredentials(
  secrets: readonly [KeyedSecret, ...KeyedSecret[]],
  { clock, ids }: { clock: Pick<Clock, 'now'>; ids: Pick<Ids, 'hex'> },
): OperatorCredentials {
  const [current] = secrets;
  const secretOf = (kid: string | undefined) => secrets.find((each) => each.kid === kid);

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

  function seal(claims: OperatorClaims): string {
    const payload = Buffer.from(JSON.stringify(claimsSchema.parse(claims))).toString('base64url');
    return `tgo.${current.kid}.${payload}.${macOf(current, 'credential', payload)}`;
  }

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
    issue: (operator, use, lifetimeMs) => seal(newClaims(operator, use, lifetimeMs)),
    open(text, use) {
      const claims = read(text, use);
      return claims !== undefined && claims.expiresAt > clock.now() ? claims : undefined;
    },
    records: {
      kid: current.kid,
      kids: secrets.map(({ kid }) => kid),
      sign: (text) => ({ kid: current.kid, value: macOf(current, 'record', text) }),
      isSigned(text, { kid, value }) {
        const secret = secretOf(kid);
        return secret !== undefined && isSameText(value, macOf(secret, 'record', text));
      },
    },
    mac: (purpose, text) => macOf(current, purpose, text),
  };
}

/** Of another kind than every other MAC under the same secret. */
const macOf = ({ secret }: KeyedSecret, purpose: string, text: string): string =>
  createHmac('sha256', secret.reveal())
    .update(JSON.stringify(['operator', purpose, text]))
    .digest('hex');
