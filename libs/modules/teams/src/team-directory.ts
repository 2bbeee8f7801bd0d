/** A live directory of teams and keys in memory. */
import { beginning, type EventStore, type Position } from '@tollgate/event-store';
import type { Environment } from '@tollgate/core';
import type { Clock, Log } from '@tollgate/service-kit';
import {
  type Authentication,
  type AuthenticationDependencies,
  type KnownKey,
  authenticationBy,
  forgetKeys,
  rememberKeys,
} from './authentication.ts';
import {
  createKnownPeople,
  personStreamPrefix,
  type RegisteredCredential,
} from './operators/credential-register.ts';
import type { TeamVerifier } from './signing/signed-events.ts';
import { createTeamRecords } from './teams.ts';
import { teamStreamPrefix } from './team.ts';
import { webhookSecretVersions } from './webhook-rotation.ts';

/** A rejected request, without secrets. */
export interface AccessRefusal {
  code: Extract<Authentication, { kind: 'refused' }>['code'] | 'scope_missing';
  /** Its origin, as reported by trusted proxies. */
  address: string;
  method: string;
  /** The route's pattern. */
  route: string;
  /** As sent: unverified if the secret is wrong. */
  keyId?: string;
  /** If the secret was correct. */
  team?: string;
  environment?: Environment;
  /** The request id of the caller or a proxy, if any. */
  requestId?: string;
}

export type TeamDirectory = ReturnType<typeof createTeamDirectory>;

export interface TeamDirectoryDependencies extends AuthenticationDependencies {
  store: EventStore;
  clock: Pick<Clock, 'now' | 'after'>;
  /** Events that it does not verify are ignored. */
  verifier: TeamVerifier;
  log: Log;
  onRefusal?: (refusal: AccessRefusal) => void;
}

/** Maximum wait of a caller with an unknown key. @unit milliseconds */
const catchUpMsMax = 1_000;

/**
 * Follows the streams of the teams, so that a new or revoked key, or a changed list of origins, applies in every instance as
 * soon as it is recorded. An unsigned event is ignored and earlier signed ones stay valid, so that a forged row neither grants
 * nor revokes anything. A team whose signed events cannot be read, or have a gap, has no keys and no origins.
 */
export function createTeamDirectory(deps: TeamDirectoryDependencies) {
  const { store, clock, verifier, operators, log, onRefusal = () => {} } = deps;
  const people = operators && createKnownPeople({ verifier: operators.records, clock, log });
  const keysById = new Map<string, KnownKey[]>();
  const records = createTeamRecords({
    verifier,
    log,
    onChange: (stream, before, after) => {
      forgetKeys(keysById, stream, before);
      if (after !== undefined) rememberKeys(keysById, stream, after);
    },
  });
  const stopping = new AbortController();
  let following: Promise<void> | undefined;
  let applied: Position = beginning;
  /** Everything of a team before it was applied: years of payments may lie in between. */
  let readTo: Position = beginning;
  let reading: Promise<void> = Promise.resolve();
  let nextReading: Promise<void> | undefined;

  async function follow(onCaughtUp: () => void, signal = stopping.signal, from = beginning): Promise<void> {
    const prefixes = [teamStreamPrefix, personStreamPrefix];
    for await (const item of store.subscribe({ from, prefixes, signal })) {
      // Events come from two subscriptions, each in order.
      if (item.kind === 'event' && item.position > applied) {
        if (item.stream.startsWith(teamStreamPrefix)) records.apply(item);
        else people?.apply(item);
        applied = item.position;
      }
      if (item.position > readTo) readTo = item.position;
      if (item.kind === 'caught-up') onCaughtUp();
    }
  }

  /** Reads to the end of the store by its own subscription: the one that follows may lag behind. */
  async function readToEnd(): Promise<void> {
    const ending = new AbortController();
    const end = () => ending.abort();
    const cancel = clock.after(catchUpMsMax, end);
    await follow(end, AbortSignal.any([stopping.signal, ending.signal]), readTo).finally(cancel);
  }

  return {
    /** Resolves when every key issued or revoked before the call is known. */
    start: (): Promise<void> => {
      const { promise, resolve, reject } = Promise.withResolvers<undefined>();
      const onCaughtUp = () => resolve(undefined);
      following = follow(onCaughtUp).then(onCaughtUp, (error: unknown) => {
        // A directory without revocations must reject every caller.
        stopping.abort();
        keysById.clear();
        records.clear();
        people?.clear();
        log.error({ error }, 'the team directory has stopped; every key is rejected until the next start');
        reject(error);
      });
      return promise;
    },
    /** The owner of the key in an `Authorization` header. Before `start` has resolved, keys may be unknown. */
    authenticate: authenticationBy(deps, { keysById, people, find: records.find }),
    /**
     * Resolves when every key issued before the call is known, or after a second: a new key works at once. Concurrent calls share
     * one read.
     */
    catchUp: (): Promise<void> =>
      (nextReading ??= reading.then(() => {
        nextReading = undefined;
        // An event that cannot be applied ends the following subscription as well, and is logged there.
        return (reading = readToEnd().catch(() => undefined));
      })),
    /** Passes a refusal on to its recorders. */
    noteRefusal: onRefusal,
    /** Unexpired tokens and sessions of people, by person, oldest first. */
    credentialsOfPeople: (): readonly RegisteredCredential[] => people?.credentials() ?? [],
    /** Every team, including those whose record cannot be read. */
    names: (): readonly string[] => records.names(),
    /** Undefined for a team that is unknown or whose record cannot be read. */
    find: records.find,
    /** The origins for webhooks of the team now; none for a team that is unknown or whose record cannot be read. */
    callbackOriginsOf: (team: string): readonly string[] => records.find(team)?.allowedOrigins.callback ?? [],
    /** Names of the team's current signing secrets for callback URLs, the newest first. */
    webhookSecretVersionsOf: (team: string, environment: string): readonly string[] =>
      webhookSecretVersions(records.find(team)?.webhookRotations ?? [], environment, clock.now()),
    health: records.health,
    stop: async (): Promise<void> => {
      stopping.abort();
      await following;
    },
  };
}
