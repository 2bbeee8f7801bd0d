/** The webhooks that an event of a payment or payout makes due, and their receivers. */
import { createHash } from 'node:crypto';
import type { EventStore, Position, RecordedEvent, Step } from '@tollgate/event-store';
import { type WebhookBody, toIso } from '@tollgate/gateway-api';
import {
  type Environment,
  eventMetadataSchema,
  type Payment,
  type PayoutPhase,
  type Refund,
  paymentEventSchemas,
  statusOfPayoutPhase,
  statusOfPhase,
} from '@tollgate/core';
import {
  type PaymentView,
  type PayoutView,
  type ViewEnvelope,
  type ViewKind,
  paymentKind,
  payoutKind,
} from '@tollgate/views';
import type { KnownEndpoint } from './endpoints/endpoint-directory.ts';
import { isSubscribedTo } from './endpoints/endpoint.ts';
import { type WebhookEventOf, queueAtEndpoint } from './webhook-events.ts';
import { omitUndefined } from '@tollgate/service-kit';

/** Shared by payments and payouts. */
interface Addressed {
  environment: Environment;
  team: string;
  terms: { callbackUrl?: string | undefined };
}

export interface Subject<View extends ViewEnvelope = ViewEnvelope> {
  kind: ViewKind<View>;
  termsOf(view: View): Addressed;
  /** The webhook bodies for the change from one state to another, in the order in which they are sent. */
  bodiesOf(before: View, after: View): WebhookBody[];
  /** The state after an event, with later events that belong in the same body. */
  completed(store: EventStore, event: RecordedEvent, after: View): Promise<View>;
}

export const paymentSubject: Subject<PaymentView> = {
  kind: paymentKind,
  termsOf: ({ payment }) => payment,
  bodiesOf: paymentBodies,
  completed: withRecurringToken,
};

export const payoutSubject: Subject<PayoutView> = {
  kind: payoutKind,
  termsOf: ({ payout }) => payout,
  bodiesOf: payoutBodies,
  completed: async (_store, _event, after) => after,
};

const subjects: readonly Subject[] = [paymentSubject, payoutSubject];

export const subjectStreamPrefixes = subjects.map(({ kind }) => kind.streamPrefix);

/** The subject of a stream; undefined for other streams. */
export const subjectOfStream = (stream: string): Subject | undefined =>
  subjects.find(({ kind }) => stream.startsWith(kind.streamPrefix));

export type DueWebhook = WebhookEventOf<'WebhookDue'>['data'];

/** Due webhooks of one receiver. */
export interface Notices {
  /** The stream of the receiver's webhooks. */
  token: string;
  due: readonly DueWebhook[];
}

/** Destination of webhooks about one payment or payout. */
type NoticeReceiver = { url: string; endpoint?: undefined } | { url: string; endpoint: KnownEndpoint };

/**
 * The webhooks for each receiver in sending order: its own `callbackUrl` first, then the endpoints that existed before the
 * event. A creation causes none: its caller has the answer. The same event yields the same webhooks with the same ids, so it
 * may be read again.
 */
export function noticesOf<View extends ViewEnvelope>(
  { termsOf, bodiesOf }: Pick<Subject<View>, 'termsOf' | 'bodiesOf'>,
  event: RecordedEvent,
  { before, after }: Step<View>,
  { endpoints, now }: { endpoints: readonly KnownEndpoint[]; now: number },
): Notices[] {
  const { environment, team, terms } = termsOf(after);
  const receivers = receiversOf(terms.callbackUrl, endpoints, event.position);
  if (before === undefined || receivers.length === 0) return [];
  const bodies = bodiesOf(before, after);
  const { recordedAt } = eventMetadataSchema.parse(event.metadata);
  // Receivers sort by it.
  const whenAndWhich = { sequence: event.revision, occurredAt: toIso(recordedAt) };
  return receivers
    .map(({ url, endpoint }) => ({
      token: endpoint === undefined ? after.token : queueAtEndpoint(endpoint.id, after.token),
      due: bodies
        .filter((body) => endpoint === undefined || isSubscribedTo(endpoint, body))
        .map((body) => ({
          id: idOf(after.token, event, body, endpoint?.id),
          environment,
          team,
          url,
          at: now,
          body: { ...body, ...whenAndWhich },
          ...(endpoint === undefined ? {} : { endpoint: endpoint.id }),
        })),
    }))
    .filter(({ due }) => due.length > 0);
}

const receiversOf = (
  callbackUrl: string | undefined,
  endpoints: readonly KnownEndpoint[],
  position: Position,
): NoticeReceiver[] => [
  ...(callbackUrl === undefined ? [] : [{ url: callbackUrl }]),
  ...endpoints.filter(({ since }) => since < position).map((endpoint) => ({ url: endpoint.url, endpoint })),
];

// An event id is unique within its stream only.
const idOf = (
  subjectToken: string,
  event: RecordedEvent,
  { type, token }: WebhookBody,
  endpoint: string | undefined,
): string => {
  const parts = [subjectToken, event.id, type, token, ...(endpoint === undefined ? [] : [endpoint])];
  return `whk_${createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)}`;
};

/** The specification's callback bodies, in the order in which they are sent. */
function paymentBodies(
  { payment: before }: PaymentView,
  { token, payment: after }: PaymentView,
): WebhookBody[] {
  const refunds = decidedRefunds(before, after).map((refund) => refundBody(token, after, refund));
  const disputes = changedDisputes(before, after).map((dispute) => disputeBody(token, after, dispute));
  const own = isNews(before, after) ? [paymentBody(token, after)] : [];
  return [...refunds, ...disputes, ...own];
}

type Dispute = Payment['disputes'][number];

/** Opened, decided, or of another amount. */
const changedDisputes = (before: Payment, after: Payment): Dispute[] =>
  after.disputes.filter((dispute) => !isKnown(before, dispute));

const isKnown = ({ disputes }: Payment, { disputeToken, state, amount }: Dispute): boolean =>
  disputes.some(
    (each) => each.disputeToken === disputeToken && each.state === state && each.amount === amount,
  );

const disputeBody = (
  paymentToken: string,
  { terms }: Payment,
  { disputeToken: token, amount, state }: Dispute,
): WebhookBody => {
  const status = state === 'open' ? 'opened' : state;
  return bodyOf({ ...terms, amount }, { token, paymentToken, type: 'dispute', status });
};

const isNews = (before: Payment, after: Payment): boolean =>
  statusOfPhase(before.phase) !== statusOfPhase(after.phase) ||
  // Still approved, but with another amount: the amount has changed.
  before.approvedAmount !== after.approvedAmount ||
  // An authorization changes no status, and the team must learn that it can capture (open point 12). A refused capture also
  // leads back to
  // it, but the team knows that from its own call.
  (after.phase === 'authorized' && (before.phase === 'init' || before.phase === 'pending'));

const stateOf = ({ refunds }: Payment, refundToken: string) =>
  refunds.find((refund) => refund.refundToken === refundToken)?.state;

const decidedRefunds = (before: Payment, after: Payment): Refund[] =>
  after.refunds.filter(
    ({ refundToken, state }) =>
      (state === 'approved' || state === 'declined') && stateOf(before, refundToken) !== state,
  );

function paymentBody(token: string, payment: Payment): WebhookBody {
  const { phase, terms, approvedAmount, recurringToken, sanitizedMask, declineReason } = payment;
  // The approved amount, which a revision may have changed, or else the requested one.
  const amount = approvedAmount > 0 ? approvedAmount : terms.amount;
  return {
    ...bodyOf({ ...terms, amount }, { token, type: 'payment', status: statusOfPhase(phase) }),
    ...omitUndefined({ recurringToken, sanitizedMask, declineReason }),
  };
}

const refundBody = (
  paymentToken: string,
  { terms: { orderNumber, currency } }: Payment,
  { refundToken: token, amount, metadata, state }: Refund,
): WebhookBody => {
  const status = state === 'approved' ? 'approved' : 'declined';
  return bodyOf({ orderNumber, currency, amount, metadata }, { token, paymentToken, type: 'refund', status });
};

const bodyOf = (
  { orderNumber = null, amount, currency, metadata }: BodyTerms,
  subject: Pick<WebhookBody, 'token' | 'type' | 'status' | 'paymentToken'>,
): WebhookBody => ({ ...subject, orderNumber, amount, currency, ...omitUndefined({ metadata }) });

interface BodyTerms extends Pick<WebhookBody, 'amount' | 'currency'> {
  orderNumber?: WebhookBody['orderNumber'] | undefined;
  metadata?: WebhookBody['metadata'] | undefined;
}

/** Maximum events read after an approval: its own append has fewer. */
const readAheadMax = 10;

/**
 * The payment with the alias of its recurring token, even if that was recorded after the event: the alias follows the approval
 * in the same append, and a team that receives one expects the other.
 *
 * @throws errors of the store
 */
async function withRecurringToken(
  store: EventStore,
  { stream, revision }: RecordedEvent,
  view: PaymentView,
): Promise<PaymentView> {
  const { payment } = view;
  if (payment.terms.recurring !== true || payment.recurringToken !== undefined) return view;
  for await (const { type, data } of store.read(stream, { from: revision + 1, limit: readAheadMax })) {
    if (type !== 'RecurringTokenIssued') continue;
    // A damaged event is reported when it is followed itself.
    const issued = paymentEventSchemas.RecurringTokenIssued.safeParse(data);
    return issued.success ? { ...view, payment: { ...payment, ...issued.data } } : view;
  }
  return view;
}

/** The specification's callback body; none without a change. */
function payoutBodies(before: PayoutView, { token, payout }: PayoutView): WebhookBody[] {
  const { phase, terms, declineReason } = payout;
  const status = statusOfPayoutPhase(phase);
  // An approval changes no status, and the team must learn that a repeat of its request sends the payout now.
  const isNews =
    statusOfPayoutPhase(before.payout.phase) !== status ||
    isGranted(before, phase) ||
    // Still approved, but with another amount: the amount has changed.
    (status === 'approved' && before.payout.terms.amount !== terms.amount);
  if (!isNews) return [];
  return [{ ...bodyOf(terms, { token, type: 'payout', status }), ...omitUndefined({ declineReason }) }];
}

const isGranted = (before: PayoutView, phase: PayoutPhase): boolean =>
  phase === 'approval_granted' && before.payout.phase === 'awaiting_approval';
