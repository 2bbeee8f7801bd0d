/** What teams are notified about: one description each of payments and payouts, from which the service does the rest. */
import type { EventStore, RecordedEvent } from '@tollgate/event-store';
import type { Environment } from '@tollgate/payment-domain';
import {
  paymentKind,
  payoutKind,
  type ViewEnvelope,
  type ViewKind,
  type PaymentView,
  type PayoutView,
} from '@tollgate/views';
import type { WebhookBody } from './webhook-events.ts';
import { paymentBodies, withRecurringToken } from './payment-bodies.ts';
import { payoutBodies } from './payout-bodies.ts';

/** What a payment and a payout have in common. */
export interface Told {
  environment: Environment;
  team: string;
  terms: { callbackUrl?: string | undefined };
}

export interface Subject<View extends ViewEnvelope = ViewEnvelope> {
  kind: ViewKind<View>;
  toldOf(view: View): Told;
  /** What its team is told of the change from one state to another, in the order in which it goes out. */
  bodiesOf(before: View, after: View): WebhookBody[];
  /** The state after an event, with what was recorded behind that event and belongs into the same body. */
  completed(store: EventStore, event: RecordedEvent, after: View): Promise<View>;
}

export const paymentSubject: Subject<PaymentView> = {
  kind: paymentKind,
  toldOf: ({ payment }) => payment,
  bodiesOf: paymentBodies,
  completed: withRecurringToken,
};

export const payoutSubject: Subject<PayoutView> = {
  kind: payoutKind,
  toldOf: ({ payout }) => payout,
  bodiesOf: payoutBodies,
  completed: async (_store, _event, after) => after,
};

const subjects: readonly Subject[] = [paymentSubject, payoutSubject];

/** Prefixes of the streams of all subjects. */
export const subjectStreamPrefixes = subjects.map(({ kind }) => kind.streamPrefix);

/** The subject that a stream tells of; undefined for streams of anything else. */
export const subjectOfStream = (stream: string): Subject | undefined =>
  subjects.find(({ kind }) => stream.startsWith(kind.streamPrefix));
