/** Issues, lists and revokes the tokens and sessions of people. A credential that is not registered is refused. */
import { type EventStore, beginning, eventsUntilNow, type RecordedEvent } from '@tollgate/event-store';
import {
  type Clock,
  type Ids,
  InvariantViolation,
  hourMs,
  omitUndefined,
  silentLog,
  type Log,
} from '@tollgate/service-kit';
import { signEvent, checkSignature, type TeamVerifier } from '../signing/signed-events.ts';
import { type OperatorClaims, type OperatorCredentials, claimsSchema } from './credentials.ts';
import { createHash } from 'node:crypto';
import { z } from 'zod';

/*
 * The record of a person: one stream each (`person-<hash>`), whose last event has everything and is the only one kept. It is
 * signed with the secrets of the credentials. Any other event is ignored.
 */

const { id, person, source, issuedAt, expiresAt } = claimsSchema.shape;

const registeredSchema = z.strictObject({
  id,
  use: z.enum(['session', 'api']),
  person,
  source,
  issuedAt,
  expiresAt,
  /** Address of the sign-in. */
  address: z.string().exactOptional(),
});
/** A token, or a session of the console. */
export type RegisteredCredential = z.infer<typeof registeredSchema>;

const recordSchema = z.strictObject({
  credentials: z.array(registeredSchema),
  usedLinks: z.array(z.strictObject({ id, expiresAt })),
  /** Links issued until then are invalid, milliseconds since the Unix epoch; 0 revokes none. */
  linksRevokedUntil: z.int(),
});
export type PersonRecord = z.infer<typeof recordSchema>;

const noRecord: PersonRecord = { credentials: [], usedLinks: [], linksRevokedUntil: 0 };

export const personStreamPrefix = 'person-';

/** Names may have any character. */
export const personStream = (name: string): string =>
  `${personStreamPrefix}${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;

/** Undefined for an unsigned event. @throws z.ZodError for one that this release cannot read */
function readPersonRecord(verifier: TeamVerifier, event: RecordedEvent): PersonRecord | undefined {
  // Only the last event is kept, so none refers to the previous one.
  const { kind } = checkSignature(verifier, event, undefined);
  return kind === 'signed' ? recordSchema.parse(event.data) : undefined;
}

/** Without expired entries. */
function pruned(record: PersonRecord, now: number): PersonRecord {
  const isAlive = ({ expiresAt: end }: Pick<OperatorClaims, 'expiresAt'>) => end > now;
  return {
    credentials: record.credentials.filter(isAlive),
    usedLinks: record.usedLinks.filter(isAlive),
    linksRevokedUntil: record.linksRevokedUntil,
  };
}

/** A working day. */
export const sessionLifetimeMs = 9 * hourMs;
/** Per person, including used links: a record is one event. */
const credentialsMax = 500;

export interface CredentialRegisterDependencies {
  store: EventStore;
  credentials: OperatorCredentials;
  clock: Pick<Clock, 'now'>;
  ids: Ids;
}

const triesMax = 20;

export function createCredentialRegister(deps: CredentialRegisterDependencies) {
  const { store, credentials, clock, ids } = deps;
  const { records } = credentials;

  async function load(stream: string) {
    let last: number | 'no-stream' = 'no-stream';
    for await (const event of store.read(stream, { direction: 'backwards' })) {
      if (last === 'no-stream') last = event.revision;
      const record = readPersonRecord(records, event);
      if (record !== undefined) return { record, revision: last };
    }
    return { record: noRecord, revision: last };
  }

  /** @param to undefined refuses: nothing is written */
  async function change(
    person: string,
    to: (record: PersonRecord) => PersonRecord | undefined,
  ): Promise<boolean> {
    const stream = personStream(person);
    for (let tries = 0; tries < triesMax; tries += 1) {
      const { record, revision } = await load(stream);
      const next = to(pruned(record, clock.now()));
      if (next === undefined) return false;
      const place = { stream, revision: revision === 'no-stream' ? 0 : revision + 1, previous: undefined };
      const metadata = { schemaVersion: 1, recordedAt: clock.now() };
      const event = { id: ids.uuid(), type: 'PersonCredentialsChanged', data: next, metadata };
      const { value: _, ...signed } = signEvent(records, place, event);
      const appended = await store.append(stream, [signed], revision, { keepLast: 1 });
      if (appended.kind !== 'conflict') return true;
    }
    throw new InvariantViolation('concurrent changes of the credentials of a person');
  }

  return {
    /** Registers a token for the API. False if its person has too many. @throws StoreUnavailable */
    add: (token: OperatorClaims): Promise<boolean> =>
      change(token.person, (record) => withCredential(record, toRegistered(token))),
    /**
     * Consumes the link and begins a session, whose credential is the result. Undefined if the link was used or revoked, or the
     * person has too many. @throws StoreUnavailable
     */
    async signIn(link: OperatorClaims, address: string): Promise<OperatorClaims | undefined> {
      const claims = credentials.newClaims(link, 'session', sessionLifetimeMs);
      const session = { ...claims, usedAt: claims.issuedAt };
      const isBegun = await change(session.person, (record) => {
        const isUsed = record.usedLinks.some((used) => used.id === link.id);
        if (isUsed || link.issuedAt <= record.linksRevokedUntil) return undefined;
        const usedLinks = [...record.usedLinks, { id: link.id, expiresAt: link.expiresAt }];
        return withCredential({ ...record, usedLinks }, toRegistered(session, address));
      });
      return isBegun ? session : undefined;
    },
    /**
     * Revokes one credential of a person, or all of them and all links issued so far. Returns what was revoked.
     *
     * @throws StoreUnavailable
     */
    async revoke(person: string, id?: string): Promise<readonly RegisteredCredential[]> {
      let revoked: readonly RegisteredCredential[] = [];
      await change(person, (record) => {
        const isRevoked = (each: RegisteredCredential) => id === undefined || each.id === id;
        revoked = record.credentials.filter(isRevoked);
        if (id !== undefined && revoked.length === 0) return undefined;
        const kept = record.credentials.filter((each) => !isRevoked(each));
        // A clock that is set back must not re-enable a revoked link.
        const linksRevokedUntil = Math.max(record.linksRevokedUntil, id === undefined ? clock.now() : 0);
        return { credentials: kept, usedLinks: record.usedLinks, linksRevokedUntil };
      });
      return revoked;
    },
    /** Unexpired credentials of all people, by person, oldest first. @throws StoreUnavailable */
    async list(): Promise<readonly RegisteredCredential[]> {
      const known = createKnownPeople({ verifier: records, clock, log: silentLog });
      for await (const event of eventsUntilNow(store, { from: beginning, prefixes: [personStreamPrefix] }))
        known.apply(event);
      return known.credentials();
    },
  };
}

const toRegistered = (claims: OperatorClaims, address?: string): RegisteredCredential => ({
  id: claims.id,
  use: claims.use === 'session' ? 'session' : 'api',
  person: claims.person,
  source: claims.source,
  issuedAt: claims.issuedAt,
  expiresAt: claims.expiresAt,
  ...omitUndefined({ address }),
});

/** Undefined if there would be too many. */
function withCredential(record: PersonRecord, credential: RegisteredCredential): PersonRecord | undefined {
  const { credentials, usedLinks } = record;
  if (credentials.length + usedLinks.length >= credentialsMax) return undefined;
  return { ...record, credentials: [...credentials, credential] };
}

const inOrder = (credentials: readonly RegisteredCredential[]): RegisteredCredential[] =>
  credentials.toSorted(
    (one, other) =>
      Number(one.person > other.person) - Number(one.person < other.person) || one.issuedAt - other.issuedAt,
  );

export type KnownPeople = ReturnType<typeof createKnownPeople>;

/** The valid tokens and sessions, in memory, from the records of people. */
export function createKnownPeople({
  verifier,
  clock,
  log,
}: {
  verifier: TeamVerifier;
  clock: Pick<Clock, 'now'>;
  log: Log;
}) {
  const people = new Map<string, { revision: number; record: PersonRecord }>();
  return {
    isRegistered: ({ id, person }: Pick<OperatorClaims, 'id' | 'person'>): boolean =>
      people.get(personStream(person))?.record.credentials.some((each) => each.id === id) === true,
    /** Unexpired ones, by person, oldest first. */
    credentials: (): readonly RegisteredCredential[] =>
      inOrder([...people.values()].flatMap(({ record }) => pruned(record, clock.now()).credentials)),
    apply(event: RecordedEvent): void {
      const { stream, revision } = event;
      // Earlier events of a stream may be delivered after the last one.
      if (revision <= (people.get(stream)?.revision ?? -1)) return;
      try {
        const record = readPersonRecord(verifier, event);
        if (record === undefined)
          log.warn(
            { stream, revision },
            'a record of a person is not signed with a known internal secret; it is ignored',
          );
        else people.set(stream, { revision, record });
      } catch (error) {
        people.set(stream, { revision, record: noRecord });
        log.error(
          { error, stream, revision },
          'the record of a person cannot be read; the credentials are refused',
        );
      }
    },
    clear: (): void => people.clear(),
  };
}
