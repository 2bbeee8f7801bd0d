/** Who is calling: a live directory of the teams and their keys, kept in memory. */
import { timingSafeEqual } from 'node:crypto';
import { beginning, type EventStore, type RecordedEvent } from '@tollgate/event-store';
import {
  decodeTeamEvent,
  evolveTeam,
  teamStream,
  teamStreamPrefix,
  type Scope,
  type Team,
  type TeamKey,
} from './team.ts';
import { type Environment } from '@tollgate/payment-domain';
import { given, type Log } from '@tollgate/service-kit';
import { hashApiKeySecret, parseApiKey, type ApiKey } from './api-key.ts';

/** The team that a request comes from, and what its key allows. */
export interface Caller {
  team: string;
  keyId: string;
  environment: Environment;
  scopes: ReadonlySet<Scope>;
  allowedOrigins: AllowedOrigins;
  /** Where the key has a limit of its own. */
  requestsPerSecondMax?: number;
}

/** Where the URLs of a team's requests may point (`isAllowedOrigin`, `isAllowedRedirect`). */
interface AllowedOrigins {
  callback: readonly string[];
  /** Undefined until the team has set a list. */
  redirect: readonly string[] | undefined;
}

export type Authentication =
  | { kind: 'caller'; caller: Caller }
  | { kind: 'refused'; code: 'auth_header_not_found' | 'incorrect_private_key' };

export interface TeamDirectory {
  /** Resolves when every key that was issued or revoked before the call is known. */
  start(): Promise<void>;
  /** Whose key an `Authorization` header carries. Before `start` has resolved, keys may not be known yet. */
  authenticate(authorization: string | undefined): Authentication;
  /** Every team that there is, also one whose record cannot be read. */
  names(): readonly string[];
  /** Where the team may be notified now; nowhere for a team that is not known or whose record cannot be read. */
  callbackOriginsOf(team: string): readonly string[];
  stop(): Promise<void>;
}

/** A key that counts. Several teams may have keys of one id: the secret decides. */
interface KnownKey {
  stream: string;
  caller: Caller;
  secretHash: Buffer;
}

/**
 * Follows the streams of the teams, so that a new or revoked key, or a changed list of origins, counts in every instance
 * as soon as it is recorded. A team whose stream cannot be read has no keys and no origins.
 */
export function createTeamDirectory({ store, log }: { store: EventStore; log: Log }): TeamDirectory {
  const teams = new Map<string, Team>();
  const damaged = new Set<string>();
  const keysById = new Map<string, KnownKey[]>();
  const stopping = new AbortController();
  let following: Promise<void> | undefined;

  function apply(event: RecordedEvent): void {
    const { stream, revision } = event;
    if (damaged.has(stream)) return;
    const before = teams.get(stream);
    forgetKeys(keysById, stream, before);
    try {
      const team = evolveTeam(before, decodeTeamEvent(event));
      teams.set(stream, team);
      rememberKeys(keysById, stream, team);
    } catch (error) {
      damaged.add(stream);
      teams.delete(stream);
      log.error({ error, stream, revision }, 'the record of a team cannot be read; its keys are refused');
    }
  }

  async function follow(onCaughtUp: () => void): Promise<void> {
    const { signal } = stopping;
    for await (const item of store.subscribe({ from: beginning, prefixes: [teamStreamPrefix], signal })) {
      if (item.kind === 'event') apply(item);
      else onCaughtUp();
    }
  }

  return {
    start: () => {
      const { promise, resolve, reject } = Promise.withResolvers<undefined>();
      const onCaughtUp = () => resolve(undefined);
      following = follow(onCaughtUp).then(onCaughtUp, (error: unknown) => {
        // Whoever does not hear of revocations must not let anybody in.
        keysById.clear();
        teams.clear();
        log.error({ error }, 'the directory of teams has stopped; every key is refused until the next start');
        reject(error);
      });
      return promise;
    },
    authenticate: (authorization) => {
      if (authorization === undefined || authorization === '') return refuse('auth_header_not_found');
      const key = parseApiKey(/^bearer +(\S+)$/i.exec(authorization)?.[1] ?? '');
      const caller = key === undefined ? undefined : callerOf(key, keysById.get(key.keyId));
      return caller === undefined ? refuse('incorrect_private_key') : { kind: 'caller', caller };
    },
    names: () =>
      [...new Set([...teams.keys(), ...damaged])].map((stream) => stream.slice(teamStreamPrefix.length)),
    callbackOriginsOf: (team) => teams.get(teamStream(team))?.allowedOrigins.callback ?? [],
    stop: async () => {
      stopping.abort();
      await following;
    },
  };
}

const refuse = (code: Extract<Authentication, { kind: 'refused' }>['code']): Authentication => ({
  kind: 'refused',
  code,
});

function forgetKeys(keysById: Map<string, KnownKey[]>, stream: string, team: Team | undefined): void {
  for (const { keyId } of team?.keys ?? []) {
    const others = (keysById.get(keyId) ?? []).filter((known) => known.stream !== stream);
    if (others.length > 0) keysById.set(keyId, others);
    else keysById.delete(keyId);
  }
}

function rememberKeys(keysById: Map<string, KnownKey[]>, stream: string, team: Team): void {
  for (const key of team.keys) {
    const { keyId, secretHash } = key;
    if (!key.active || !/^[0-9a-f]{64}$/.test(secretHash)) continue;
    const known = { stream, caller: toCaller(team, key), secretHash: Buffer.from(secretHash, 'hex') };
    keysById.set(keyId, [...(keysById.get(keyId) ?? []), known]);
  }
}

function toCaller(team: Team, { keyId, environment, scopes, requestsPerSecondMax }: TeamKey): Caller {
  const { callback = [], redirect } = team.allowedOrigins;
  const caller = { team: team.name, keyId, environment, scopes: new Set(scopes) };
  return { ...caller, allowedOrigins: { callback, redirect }, ...given({ requestsPerSecondMax }) };
}

/** Compared with where a key is unknown, so that finding out takes as long as with a wrong secret. */
const nobody: readonly KnownKey[] = [
  {
    stream: '',
    caller: {
      ...{ team: '', keyId: '', environment: 'sandbox', scopes: new Set() },
      allowedOrigins: { callback: [], redirect: [] },
    },
    secretHash: Buffer.alloc(32),
  },
];

function callerOf({ environment, secret }: ApiKey, candidates = nobody): Caller | undefined {
  const secretHash = Buffer.from(hashApiKeySecret(secret), 'hex');
  const found = candidates.find((known) => timingSafeEqual(known.secretHash, secretHash));
  return found !== undefined && found.caller.environment === environment ? found.caller : undefined;
}
