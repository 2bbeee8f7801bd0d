/** The subjects of webhooks: one description each for payments and payouts; the rest of the service is generic. */
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
import type { WebhookBody } from '@tollgate/gateway-api';
import { paymentBodies, withRecurringToken } from './payment-bodies.ts';
import { payoutBodies } from './payout-bodies.ts';

/** What a payment and a payout have in common. */
interface Addressed {
  environment: Environment;
  team: string;
  terms: { callbackUrl?: string | undefined };
}

export interface Subject<View extends ViewEnvelope = ViewEnvelope> {
  name: 'payment' | 'payout';
  kind: ViewKind<View>;
  termsOf(view: View): Addressed;
  /** The webhook bodies for the change from one state to another, in the order in which they are sent. */
  bodiesOf(before: View, after: View): WebhookBody[];
  /** The state after an event, with what was recorded after it and belongs in the same body. */
  completed(store: EventStore, event: RecordedEvent, after: View): Promise<View>;
}

export const paymentSubject: Subject<PaymentView> = {
  name: 'payment',
  kind: paymentKind,
  termsOf: ({ payment }) => payment,
  bodiesOf: paymentBodies,
  completed: withRecurringToken,
};

export const payoutSubject: Subject<PayoutView> = {
  name: 'payout',
  kind: payoutKind,
  termsOf: ({ payout }) => payout,
  bodiesOf: payoutBodies,
  completed: async (_store, _event, after) => after,
};

const subjects: readonly Subject[] = [paymentSubject, payoutSubject];

/** Prefixes of the streams of all subjects. */
export const subjectStreamPrefixes = subjects.map(({ kind }) => kind.streamPrefix);

/** The subject of a stream; undefined for other streams. */
export const subjectOfStream = (stream: string): Subject | undefined =>
  subjects.find(({ kind }) => stream.startsWith(kind.streamPrefix));

/** The token of the payment or payout that a stream is of. */
export const tokenOfSubject = (stream: string): string =>
  stream.slice(subjectOfStream(stream)?.kind.streamPrefix.length ?? 0);
