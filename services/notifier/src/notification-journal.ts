/** The streams of notifications in the event store. Several processes may write one: whoever loses decides again. */
import {
  decideAndAppend,
  loadState,
  type Decision,
  type DecisionOutcome,
  type EventStore,
  type Evolution,
  type LoadedState,
} from '@tollgate/event-store';
import { InvariantViolation, type Actor, type EventMetadata } from '@tollgate/payment-domain';
import { TollgateError, type Clock, type Ids } from '@tollgate/service-kit';
import {
  decodeNotificationEvent,
  notificationStream,
  type NotificationEvent,
  type NotificationEventOf,
} from './notification-events.ts';
import {
  decideDue,
  decideOutcome,
  decideReplay,
  evolveNotifications,
  noNotifications,
  type Outcome,
  type SubjectNotifications,
  type ReplayRefusal,
} from './notification-state.ts';
import { nextTryAfter } from './retry-schedule.ts';

export interface JournalDependencies {
  store: EventStore;
  clock: Clock;
  ids: Ids;
}

export type LoadedNotifications = LoadedState<SubjectNotifications>;

/** What set an event off. */
export interface Cause {
  correlationId: string;
  causationId: string;
  actor: Actor;
}

export interface NotificationJournal {
  /** @throws what decoding throws, for a damaged stream */
  load(token: string): Promise<LoadedNotifications>;
  recordDue(
    token: string,
    due: readonly NotificationEventOf<'NotificationDue'>['data'][],
    cause: Omit<Cause, 'actor'>,
  ): Promise<void>;
  /** Records a try and gives the notifications as they are then. */
  recordOutcome(token: string, id: string, outcome: Outcome): Promise<LoadedNotifications>;
  /** Asks for one notification again, or for all. Gives the ids, or a refusal. */
  requestReplay(
    token: string,
    id: string | undefined,
    actor: Actor,
  ): Promise<{ kind: 'requested'; ids: string[] } | { kind: 'refused'; refusal: ReplayRefusal }>;
}

const notifier: Actor = { kind: 'service', name: 'notifier' };

const evolution: Evolution<SubjectNotifications, NotificationEvent> = {
  initial: noNotifications,
  decode: decodeNotificationEvent,
  evolve: evolveNotifications,
};

export function createNotificationJournal({ store, clock, ids }: JournalDependencies): NotificationJournal {
  function append<Refusal>(
    token: string,
    cause: Cause,
    decide: (state: SubjectNotifications) => Decision<NotificationEvent, Refusal>,
  ): Promise<DecisionOutcome<SubjectNotifications, NotificationEvent, Refusal>> {
    const metadata: EventMetadata = { schemaVersion: 1, ...cause, recordedAt: clock.now() };
    const toNewEvents = (events: readonly NotificationEvent[]) =>
      events.map((event) => ({ id: ids.uuid(), ...event, metadata }));
    const stream = notificationStream(token);
    return decideAndAppend({ store, stream, ...evolution, decide, toNewEvents });
  }

  function causeOf(actor: Actor): Cause {
    const causationId = ids.uuid();
    return { correlationId: causationId, causationId, actor };
  }

  return {
    load: (token) => loadState({ store, stream: notificationStream(token), ...evolution }),
    recordDue: async (token, due, cause) => {
      await append(token, { ...cause, actor: notifier }, (state) => decideDue(state, due));
    },
    recordOutcome: async (token, id, outcome) => {
      const at = clock.now();
      const fraction = ids.fraction();
      const answer = await append<never>(token, causeOf(notifier), (before) =>
        decideOutcome(before, { id, at, outcome }, (failures) => nextTryAfter(failures, at, fraction)),
      );
      if (answer.kind === 'refused') throw new InvariantViolation('the record of a try was refused');
      return { state: answer.state, revision: answer.revision };
    },
    requestReplay: async (token, id, actor) => {
      const at = clock.now();
      const outcome = await append(token, causeOf(actor), (state) => decideReplay(state, id, at));
      if (outcome.kind === 'refused') return { kind: 'refused', refusal: outcome.refusal };
      const wanted = outcome.state.notifications.filter((each) => id === undefined || each.id === id);
      return { kind: 'requested', ids: wanted.map((each) => each.id) };
    },
  };
}

/** True where a failure says nothing about the stream that it was met at. */
export const isPassing = (error: unknown): boolean => error instanceof TollgateError && error.retryable;
