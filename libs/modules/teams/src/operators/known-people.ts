/** The valid tokens and sessions, in memory, from the records of people. */
import type { RecordedEvent } from '@tollgate/event-store';
import type { Clock, Log } from '@tollgate/service-kit';
import type { TeamVerifier } from '../signing/signing-keys.ts';
import { inOrder } from './credential-register.ts';
import type { OperatorClaims } from './credentials.ts';
import {
  type PersonRecord,
  type RegisteredCredential,
  noRecord,
  pruned,
  personStream,
  readPersonRecord,
} from './person-record.ts';

export type KnownPeople = ReturnType<typeof createKnownPeople>;

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
