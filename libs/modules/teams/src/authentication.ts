/** Authenticates a caller by its key, or a person by a credential. */
import { timingSafeEqual } from 'node:crypto';
import type { Environment, Requester } from '@tollgate/core';
import { type Clock, minuteMs, omitUndefined } from '@tollgate/service-kit';
import { hashApiKeySecret, parseApiKey, type ApiKey } from './api-key.ts';
import { approvalAboveIn, limitsOfKey } from './money-settings.ts';
import { createNetworkList } from './networks.ts';
import {
  type Operator,
  type OperatorClaims,
  type OperatorCredentials,
  keyIdOfPerson,
} from './operators/credentials.ts';
import { scopesWithin, type OperatorScope, type PersonScope } from './operators/grants.ts';
import type { KnownPeople } from './operators/credential-register.ts';
import { isExpired, type Scope, type Team, type TeamKey } from './team.ts';

export type CallerScope = Scope | OperatorScope | PersonScope;

/** The team of a request, and what its key allows. */
export interface Caller extends Requester {
  scopes: ReadonlySet<CallerScope>;
  /** The operator who calls for the team; absent if the team calls. */
  operator?: Operator;
  /** The person's credential. */
  credential?: OperatorClaims;
  /** If the key has its own limit. */
  requestsPerSecondMax?: number;
}

/** A caller without the secret learns only that the key is invalid (`incorrect_private_key`); a caller with it learns why. */
export type Authentication =
  | { kind: 'caller'; caller: Caller }
  | { kind: 'refused'; code: 'auth_header_not_found' | 'incorrect_private_key'; keyId?: string }
  | {
      kind: 'refused';
      code: 'api_key_expired' | 'network_not_allowed';
      keyId: string;
      team: string;
      environment: Environment;
    }
  | { kind: 'refused'; code: PersonRefusal; keyId: string };

/** A person with our credential. */
type PersonRefusal = 'incorrect_team' | 'person_token_expired' | 'person_token_revoked' | 'session_idle';

/** The team for which an operator calls; without one, only the routes across teams are open. */
interface OnBehalf {
  team?: string | undefined;
  /** `production` or `sandbox`. */
  environment?: string | undefined;
}

/** A valid key. Several teams may have keys of one id: the secret decides. */
export interface KnownKey {
  stream: string;
  caller: Caller;
  secretHash: Buffer;
  expiresAt?: number;
  /** Absent: everywhere. */
  networks?: ReturnType<typeof createNetworkList>;
}

export interface AuthenticationDependencies {
  clock: Pick<Clock, 'now'>;
  /** Credentials of operators; absent: only keys of teams are valid. */
  operators?: Pick<OperatorCredentials, 'open' | 'read' | 'records'>;
  /** Idle time of a console session. @default 15 minutes @unit milliseconds */
  sessionIdleMs?: number;
  /** Called each time that a key was accepted. */
  onUse?: (key: Pick<Caller, 'team' | 'keyId'>) => void;
}

export const sessionIdleMsDefault = 15 * minuteMs;

export function authenticationBy(
  deps: AuthenticationDependencies,
  {
    keysById,
    people,
    find,
  }: {
    keysById: ReadonlyMap<string, KnownKey[]>;
    people: KnownPeople | undefined;
    find: (team: string) => Team | undefined;
  },
) {
  const { clock, operators, sessionIdleMs = sessionIdleMsDefault, onUse = () => {} } = deps;
  const faultOf = ({ id, person, expiresAt, usedAt }: OperatorClaims): PersonRefusal | undefined => {
    if (expiresAt <= clock.now()) return 'person_token_expired';
    if (people?.isRegistered({ id, person }) !== true) return 'person_token_revoked';
    return usedAt !== undefined && usedAt + sessionIdleMs <= clock.now() ? 'session_idle' : undefined;
  };
  /**
   * @param address of the caller; a key bound to networks is refused without one
   * @param onBehalf applies to the credential of a person only
   */
  return (authorization: string | undefined, address = '', onBehalf: OnBehalf = {}): Authentication => {
    if (authorization === undefined || authorization === '')
      return { kind: 'refused', code: 'auth_header_not_found' };
    const text = /^bearer +(\S+)$/i.exec(authorization)?.[1] ?? '';
    const link = operators?.open(text, 'sign-in');
    if (link !== undefined) return authenticatePerson(link, onBehalf, find);
    const credential = operators?.read(text, 'api');
    if (credential !== undefined) {
      const code = faultOf(credential);
      if (code !== undefined) return { kind: 'refused', code, keyId: keyIdOfPerson(credential.person) };
      return authenticatePerson(credential, onBehalf, find);
    }
    const key = parseApiKey(text);
    if (key === undefined) return { kind: 'refused', code: 'incorrect_private_key' };
    const known = knownKeyOf(key, keysById.get(key.keyId));
    const { keyId } = key;
    if (known === undefined) return { kind: 'refused', code: 'incorrect_private_key', keyId };
    const { caller } = known;
    const code = restrictionOf(known, { now: clock.now(), address });
    const { team, environment } = caller;
    if (code !== undefined) return { kind: 'refused', code, keyId, team, environment };
    onUse(caller);
    return { kind: 'caller', caller };
  };
}

function restrictionOf(
  { expiresAt, networks }: Pick<KnownKey, 'expiresAt' | 'networks'>,
  { now, address }: { now: number; address: string },
): 'api_key_expired' | 'network_not_allowed' | undefined {
  if (isExpired({ expiresAt }, now)) return 'api_key_expired';
  return networks?.has(address) === false ? 'network_not_allowed' : undefined;
}

export function forgetKeys(keysById: Map<string, KnownKey[]>, stream: string, team: Team | undefined): void {
  for (const { keyId } of team?.keys ?? []) {
    const others = (keysById.get(keyId) ?? []).filter((known) => known.stream !== stream);
    if (others.length > 0) keysById.set(keyId, others);
    else keysById.delete(keyId);
  }
}

export function rememberKeys(keysById: Map<string, KnownKey[]>, stream: string, team: Team): void {
  for (const key of team.keys) {
    const { keyId, secretHash, expiresAt } = key;
    if (!key.active || !/^[0-9a-f]{64}$/.test(secretHash)) continue;
    const networks = key.networks === undefined ? undefined : createNetworkList(key.networks);
    const known: KnownKey = {
      stream,
      caller: toCaller(team, key),
      secretHash: Buffer.from(secretHash, 'hex'),
      ...omitUndefined({ expiresAt, networks }),
    };
    keysById.set(keyId, [...(keysById.get(keyId) ?? []), known]);
  }
}

function toCaller(
  team: Team,
  {
    keyId,
    environment,
    scopes,
    requestsPerSecondMax,
  }: Pick<TeamKey, 'keyId' | 'environment' | 'requestsPerSecondMax'> & { scopes: Iterable<CallerScope> },
): Caller {
  const { callback = [], redirect } = team.allowedOrigins;
  const caller = { team: team.name, keyId, environment, scopes: new Set(scopes) };
  const { wallet } = team.money;
  const approvalAbove = approvalAboveIn(team.money, environment);
  const limits = limitsOfKey(team.money, { environment, keyId });
  return {
    ...caller,
    wallet,
    allowedOrigins: { callback, redirect },
    ...omitUndefined({ requestsPerSecondMax, approvalAbove, limits }),
  };
}

/** A person without a team reaches the routes across teams only; with a link, only the route that signs in. */
function authenticatePerson(
  credential: OperatorClaims,
  { team: name, environment = 'production' }: OnBehalf,
  find: (team: string) => Team | undefined,
): Authentication {
  const { person, source, grants, use } = credential;
  const keyId = keyIdOfPerson(person);
  const scopes: CallerScope[] = [use === 'sign-in' ? 'sign-in' : 'self'];
  const identified = { operator: { person, source, grants }, credential };
  if (name === undefined || use === 'sign-in')
    return { kind: 'caller', caller: { ...withoutTeam, keyId, scopes: new Set(scopes), ...identified } };
  const team = find(name);
  const isKnown = environment === 'production' || environment === 'sandbox';
  const within = isKnown ? scopesWithin(grants, { team: name, environment }) : [];
  // A missing team and one out of reach look the same to the person.
  if (team === undefined || !isKnown || within.length === 0)
    return { kind: 'refused', code: 'incorrect_team', keyId };
  const caller = toCaller(team, { keyId, environment, scopes: [...scopes, ...within] });
  return { kind: 'caller', caller: { ...caller, ...identified } };
}

const withoutTeam: Caller = {
  team: '',
  keyId: '',
  environment: 'sandbox',
  scopes: new Set(),
  allowedOrigins: { callback: [], redirect: [] },
  wallet: { kind: 'own' },
};

/** Compared if a key is unknown, so that the check takes as long as for a wrong secret. */
const unknownKeys: readonly KnownKey[] = [{ stream: '', caller: withoutTeam, secretHash: Buffer.alloc(32) }];

function knownKeyOf({ environment, secret }: ApiKey, candidates = unknownKeys): KnownKey | undefined {
  const secretHash = Buffer.from(hashApiKeySecret(secret), 'hex');
  const found = candidates.find((known) => timingSafeEqual(known.secretHash, secretHash));
  return found !== undefined && found.caller.environment === environment ? found : undefined;
}
