/** The streams of webhooks in the event store. Several processes may write to one: the loser of a conflict decides again. */
import {
  decideAndAppend,
  loadState,
  type Decision,
  type DecisionOutcome,
  type EventStore,
  type Evolution,
  type LoadedState,
} from '@tollgate/event-store';
import { InvariantViolation, type Actor, type EventMetadata, eventMetadataSchema } from '@tollgate/core';
import { type Clock, type Ids, omitUndefined } from '@tollgate/service-kit';
import {
  decodeWebhookEvent,
  versionOfWebhookEvent,
  webhookStream,
  type WebhookEvent,
  type WebhookEventOf,
} from './webhook-events.ts';
import {
  decideDue,
  decideOutcome,
  decideReplay,
  evolveWebhooks,
  noWebhooks,
  type CausedWebhookEvent,
  type Outcome,
  type SubjectWebhooks,
  type ReplayRefusal,
  type Webhook,
} from './webhook-state.ts';
import { nextTryAfter } from './retry-schedule.ts';

export interface JournalDependencies {
  store: EventStore;
  clock: Clock;
  ids: Ids;
}

export type LoadedWebhooks = LoadedState<SubjectWebhooks>;

/** What caused an event. */
interface Cause {
  correlationId: string;
  causationId: string;
  actor: Actor;
}

export type WebhookJournal = ReturnType<typeof createWebhookJournal>;

/** The actor of automatic changes. */
export const notifier: Actor = { kind: 'service', name: 'notifier' };

const evolution: Evolution<SubjectWebhooks, CausedWebhookEvent> = {
  initial: noWebhooks,
  decode(recorded) {
    const event = decodeWebhookEvent(recorded);
    if (event.type !== 'WebhookDue') return event;
    const cause = eventMetadataSchema.safeParse(recorded.metadata).data;
    return { ...event, ...omitUndefined({ correlationId: cause?.correlationId }) };
  },
  evolve: evolveWebhooks,
};

export function createWebhookJournal({ store, clock, ids }: JournalDependencies) {
  function append<Refusal>(
    token: string,
    cause: Cause,
    decide: (state: SubjectWebhooks) => Decision<WebhookEvent, Refusal>,
  ): Promise<DecisionOutcome<SubjectWebhooks, WebhookEvent, Refusal>> {
    const recordedAt = clock.now();
    const toNewEvents = (events: readonly WebhookEvent[]) =>
      events.map((event) => {
        const metadata: EventMetadata = { schemaVersion: versionOfWebhookEvent(event), ...cause, recordedAt };
        return { id: ids.uuid(), ...event, metadata };
      });
    const stream = webhookStream(token);
    return decideAndAppend({ store, stream, ...evolution, decide, toNewEvents });
  }

  function causeOf(actor: Actor): Cause {
    const causationId = ids.uuid();
    return { correlationId: causationId, causationId, actor };
  }

  return {
    /** @throws errors of decoding, for a damaged stream */
    load: (token: string): Promise<LoadedWebhooks> =>
      loadState({ store, stream: webhookStream(token), ...evolution }),
    recordDue: async (
      token: string,
      due: readonly WebhookEventOf<'WebhookDue'>['data'][],
      cause: Omit<Cause, 'actor'>,
    ): Promise<void> => {
      await append(token, { ...cause, actor: notifier }, (state) => decideDue(state, due));
    },
    /** Records an attempt and returns the resulting webhooks. */
    recordOutcome: async (token: string, id: string, outcome: Outcome): Promise<LoadedWebhooks> => {
      const at = clock.now();
      const fraction = ids.fraction();
      const answer = await append<never>(token, causeOf(notifier), (before) =>
        decideOutcome(before, { id, at, outcome }, (failures) => nextTryAfter(failures, at, fraction)),
      );
      if (answer.kind === 'refused') throw new InvariantViolation('the record of an attempt was refused');
      return { state: answer.state, revision: answer.revision };
    },
    /** Requests the replay of one webhook, or of all. Returns how many requests are new, or a refusal. */
    requestReplay: async (
      token: string,
      id: string | undefined,
      actor: Actor,
      only?: Webhook['state'],
    ): Promise<{ kind: 'requested'; newCount: number } | { kind: 'refused'; refusal: ReplayRefusal }> => {
      const at = clock.now();
      const outcome = await append(token, causeOf(actor), (state) => decideReplay(state, id, at, only));
      if (outcome.kind === 'refused') return { kind: 'refused', refusal: outcome.refusal };
      return { kind: 'requested', newCount: outcome.kind === 'decided' ? outcome.events.length : 0 };
    },
  };
}
