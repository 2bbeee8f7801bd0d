/** Issues, lists and revokes the tokens and sessions of people. A credential that is not registered is refused. */
import { type EventStore, beginning } from '@tollgate/event-store';
import { type Clock, type Ids, InvariantViolation, hourMs, omitUndefined } from '@tollgate/service-kit';
import { signEvent } from '../signing/signed-events.ts';
import type { OperatorClaims, OperatorCredentials } from './credentials.ts';
import {
  type PersonRecord,
  type RegisteredCredential,
  noRecord,
  personStream,
  personStreamPrefix,
  pruned,
  readPersonRecord,
} from './person-record.ts';

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
      const last = new Map<string, { revision: number; record: PersonRecord }>();
      const { signal } = new AbortController();
      for await (const item of store.subscribe({ from: beginning, prefixes: [personStreamPrefix], signal })) {
        if (item.kind === 'caught-up') break;
        const record = readPersonRecord(records, item);
        const { stream, revision } = item;
        if (record !== undefined && revision > (last.get(stream)?.revision ?? -1))
          last.set(stream, { revision, record });
      }
      return inOrder([...last.values()].flatMap(({ record }) => pruned(record, clock.now()).credentials));
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

export const inOrder = (credentials: readonly RegisteredCredential[]): RegisteredCredential[] =>
  credentials.toSorted(
    (one, other) =>
      Number(one.person > other.person) - Number(one.person < other.person) || one.issuedAt - other.issuedAt,
  );
