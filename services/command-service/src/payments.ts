/** Payments in the event store: load one, and carry out commands on it. */
import {
  type EventStore,
  type Evolution,
  type Position,
  type RecordedEvent,
  beginning,
  decideAndAppend,
  loadState,
} from '@tollgate/event-store';
import {
  type Actor,
  type EventMetadata,
  type PaymentCommand,
  type PaymentEvent,
  type PaymentRefusal,
  type PaymentState,
  decide,
  decodePaymentEvent,
  eventMetadataSchema,
  evolve,
  noPayment,
  paymentStream,
} from '@tollgate/payment-domain';
import type { PaymentDocument } from '@tollgate/read-models';
import type { Clock, Ids } from '@tollgate/service-kit';

/** What set a command off; it is recorded with every event. */
export interface Cause {
  correlationId: string;
  causationId: string;
  traceparent?: string;
  actor: Actor;
}

/** What became of a command. `events` are those that this call appended: only who appended an announcement may act on it. */
export type Executed =
  | { kind: 'done'; document: PaymentDocument; events: readonly PaymentEvent[] }
  | { kind: 'refused'; refusal: PaymentRefusal };

export interface Payments {
  load(token: string): Promise<PaymentDocument | undefined>;
  /** @throws StoreUnavailable, StreamContended: what was decided may be durable or not */
  execute(token: string, command: PaymentCommand, cause: Cause): Promise<Executed>;
}

/** A payment's events with what a document says of them beyond the payment itself. */
interface Dated {
  event: PaymentEvent;
  recordedAt: number;
  /** Not known yet of an event that is being decided. */
  position?: Position;
}

interface Loaded {
  payment: PaymentState;
  createdAt: number;
  updatedAt: number;
  position: Position;
}

const evolution: Evolution<Loaded, Dated> = {
  initial: { payment: noPayment, createdAt: 0, updatedAt: 0, position: beginning },
  decode: (recorded: RecordedEvent) => ({
    event: decodePaymentEvent(recorded),
    recordedAt: eventMetadataSchema.parse(recorded.metadata).recordedAt,
    position: recorded.position,
  }),
  evolve: (loaded, { event, recordedAt, position }) => ({
    payment: evolve(loaded.payment, event),
    createdAt: loaded.payment === undefined ? recordedAt : loaded.createdAt,
    updatedAt: recordedAt,
    position: position ?? loaded.position,
  }),
};

export function createPayments({
  store,
  clock,
  ids,
}: {
  store: EventStore;
  clock: Clock;
  ids: Ids;
}): Payments {
  return {
    async load(token) {
      const { state, revision } = await loadState({ ...evolution, store, stream: paymentStream(token) });
      return toDocument(token, state, revision);
    },
    async execute(token, command, cause) {
      const recordedAt = clock.now();
      const metadata: EventMetadata = { schemaVersion: 1, ...cause, recordedAt };
      const outcome = await decideAndAppend<Loaded, Dated, PaymentRefusal>({
        ...evolution,
        store,
        stream: paymentStream(token),
        decide: ({ payment }) => {
          const decision = decide(payment, command);
          if (decision.kind === 'refused') return decision;
          return { kind: 'events', events: decision.events.map((event) => ({ event, recordedAt })) };
        },
        toNewEvents: (events) =>
          events.map(({ event }) => ({ id: ids.uuid(), ...readable(event), metadata })),
      });
      if (outcome.kind === 'refused') return { kind: 'refused', refusal: outcome.refusal };
      const events = outcome.kind === 'decided' ? outcome.events.map(({ event }) => event) : [];
      const state =
        outcome.kind === 'decided' ? { ...outcome.state, position: outcome.position } : outcome.state;
      const document = toDocument(token, state, outcome.revision);
      if (document === undefined) throw new RangeError(`there is no payment ${token}`);
      return { kind: 'done', document, events };
    },
  };
}

/** An event as it will be read again. @throws z.ZodError: better nothing is written than what cannot be read any more. */
function readable(event: PaymentEvent): PaymentEvent {
  return decodePaymentEvent(event);
}

function toDocument(
  token: string,
  loaded: Loaded,
  revision: number | 'no-stream',
): PaymentDocument | undefined {
  const { payment, createdAt, updatedAt, position } = loaded;
  if (payment === undefined || revision === 'no-stream') return undefined;
  return { schemaVersion: 1, token, payment, createdAt, updatedAt, revision, position };
}
