/** The webhooks of one payment or payout (the subject), folded from their events, and the decisions on them. Pure. */
import type { Decision } from '@tollgate/event-store';
import { InvariantViolation } from '@tollgate/core';
import { omitUndefined } from '@tollgate/service-kit';
import type { FailureReason } from '@tollgate/gateway-api';
import type { WebhookEvent, WebhookEventOf } from './webhook-events.ts';

/** One attempt, with the status code of the answer, or else a reason. */
interface Delivery extends Omit<WebhookEventOf<'DeliveryFailed'>['data'], 'id' | 'nextAt'> {
  isDelivered: boolean;
}

/** A webhook of a standing endpoint is sent to that endpoint's current URL. */
export interface Webhook extends Omit<WebhookEventOf<'WebhookDue'>['data'], 'at'> {
  /** The cause of its event: the id of a request, if there was one. */
  correlationId?: string;
  createdAt: number;
  state: 'open' | 'delivered' | 'given_up';
  /**
   * When the next attempt is due, while open. 0 means at once, independent of the clock, so that clock jumps change no
   * order.
   */
  nextAt: number;
  /** Since it became due, or was last replayed. */
  failuresInRow: number;
  /** It had ended before: a replay delays no other webhook. */
  isReplay?: true;
  deliveries: readonly Delivery[];
}

/** In the order in which they became due. */
export interface SubjectWebhooks {
  webhooks: readonly Webhook[];
  replays: number;
}

export const noWebhooks: SubjectWebhooks = { webhooks: [], replays: 0 };

/** Maximum replays of one subject: its stream is read at every attempt. */
export const replaysMax = 200;

/** The outcome of an attempt; `abandoned`: none was made, and none will be. */
export type Outcome =
  | { kind: 'answered'; statusCode: number; durationMs?: number; responseBody?: string }
  | { kind: 'failed'; reason: FailureReason; durationMs?: number }
  | { kind: 'abandoned' };

export interface ReplayRefusal {
  code: 'webhook_not_found' | 'too_many_replays';
}

/** With its cause, from the metadata. */
export type CausedWebhookEvent = WebhookEvent & { correlationId?: string };

/** The state after an event. @throws InvariantViolation for an event of an unknown webhook. */
export function evolveWebhooks(state: SubjectWebhooks, event: CausedWebhookEvent): SubjectWebhooks {
  if (event.type === 'WebhookDue') return { ...state, webhooks: [...state.webhooks, begin(event)] };
  // The last event of deleted webhooks: their stream continues after it.
  if (state.webhooks.length === 0) return state;
  if (!state.webhooks.some(({ id }) => id === event.data.id))
    throw new InvariantViolation(`${event.type} names an unknown webhook`);
  return {
    webhooks: state.webhooks.map((each) => (each.id === event.data.id ? apply(each, event) : each)),
    replays: state.replays + (event.type === 'ReplayRequested' ? 1 : 0),
  };
}

const begin = ({
  data: { at, ...data },
  correlationId,
}: CausedWebhookEvent & WebhookEventOf<'WebhookDue'>): Webhook => ({
  ...data,
  ...omitUndefined({ correlationId }),
  createdAt: at,
  state: 'open',
  nextAt: 0,
  failuresInRow: 0,
  deliveries: [],
});

function apply(webhook: Webhook, event: Exclude<WebhookEvent, { type: 'WebhookDue' }>): Webhook {
  const { deliveries, failuresInRow } = webhook;
  switch (event.type) {
    case 'DeliveryFailed': {
      const { id: _, nextAt = webhook.nextAt, ...tried } = event.data;
      const next = { nextAt, failuresInRow: failuresInRow + 1 };
      return { ...webhook, ...next, deliveries: [...deliveries, { ...tried, isDelivered: false }] };
    }
    case 'Delivered': {
      const { id: _, ...tried } = event.data;
      return { ...webhook, state: 'delivered', deliveries: [...deliveries, { ...tried, isDelivered: true }] };
    }
    case 'DeliveryGivenUp':
      // Another process may have delivered it meanwhile: that prevails.
      return webhook.state === 'open' ? { ...webhook, state: 'given_up' } : webhook;
    case 'ReplayRequested':
      return {
        ...webhook,
        state: 'open',
        nextAt: 0,
        failuresInRow: 0,
        ...(webhook.state === 'open' ? {} : { isReplay: true }),
      };
  }
}

/**
 * The next in line: a later status is not sent before an earlier one was delivered or abandoned, so the first open one is the
 * only candidate. Replays have their own queue.
 */
function nextInLine({ webhooks }: SubjectWebhooks): readonly Webhook[] {
  const open = webhooks.filter(({ state }) => state === 'open');
  const first = open.find(({ isReplay }) => isReplay !== true);
  const replayed = open.find(({ isReplay }) => isReplay === true);
  return [first, replayed].filter((each) => each !== undefined);
}

/** When the next attempt of any webhook is due; undefined if none is open. */
export function nextTryAt(state: SubjectWebhooks): number | undefined {
  const times = nextInLine(state).map(({ nextAt }) => nextAt);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** The webhook to attempt now: of news and replays the one that has been due longest. */
export function dueWebhook(state: SubjectWebhooks, now: number): Webhook | undefined {
  const due = nextInLine(state).filter((each) => each.nextAt <= now);
  return due.toSorted((a, b) => a.nextAt - b.nextAt)[0];
}

type Decided<Refusal = never> = Decision<WebhookEvent, Refusal>;

/** Records due webhooks; a recorded one adds nothing, so the decision may be repeated. */
export function decideDue(
  state: SubjectWebhooks,
  due: readonly WebhookEventOf<'WebhookDue'>['data'][],
): Decided {
  const isNew = ({ id }: { id: string }) => !state.webhooks.some((known) => known.id === id);
  return { kind: 'events', events: due.filter(isNew).map((data) => ({ type: 'WebhookDue', data })) };
}

/** Records an attempt. `nextAtAfter` returns the time of the retry after this many failures; undefined after the last. */
export function decideOutcome(
  state: SubjectWebhooks,
  tried: { id: string; at: number; outcome: Outcome },
  nextAtAfter: (failuresInRow: number) => number | undefined,
): Decided {
  const { id, at, outcome } = tried;
  const webhook = state.webhooks.find((each) => each.id === id);
  if (webhook === undefined) throw new InvariantViolation('an attempt names an unknown webhook');
  const isOpen = webhook.state === 'open';
  if (outcome.kind === 'abandoned')
    return { kind: 'events', events: isOpen ? [{ type: 'DeliveryGivenUp', data: { id, at } }] : [] };
  const attempt = webhook.deliveries.length + 1;
  const responseBody = outcome.kind === 'answered' ? outcome.responseBody : undefined;
  const base = { id, attempt, at, ...omitUndefined({ durationMs: outcome.durationMs, responseBody }) };
  if (outcome.kind === 'answered' && isAccepted(outcome))
    return {
      kind: 'events',
      events: [{ type: 'Delivered', data: { ...base, statusCode: outcome.statusCode } }],
    };
  const why = outcome.kind === 'answered' ? { statusCode: outcome.statusCode } : { reason: outcome.reason };
  const nextAt = isOpen && !isLastTry(webhook, outcome) ? nextAtAfter(webhook.failuresInRow + 1) : undefined;
  const failed: WebhookEvent = {
    type: 'DeliveryFailed',
    data: { ...base, ...why, ...omitUndefined({ nextAt }) },
  };
  const isOver = isOpen && nextAt === undefined;
  return {
    kind: 'events',
    events: isOver ? [failed, { type: 'DeliveryGivenUp', data: { id, at } }] : [failed],
  };
}

export const isAccepted = (outcome: Outcome): boolean =>
  outcome.kind === 'answered' && outcome.statusCode >= 200 && outcome.statusCode < 300;

/** The endpoint answers that it no longer exists. */
export const isGone = ({ endpoint }: Webhook, outcome: Outcome): boolean =>
  endpoint !== undefined && outcome.kind === 'answered' && outcome.statusCode === 410;

/** A person waits for the outcome of a test. */
const isLastTry = (webhook: Webhook, outcome: Outcome): boolean =>
  webhook.body.type === 'test' || isGone(webhook, outcome);

/**
 * Requests the replay of one webhook, or of all of the subject's. Skips one that is due at once and, if a state is given, one
 * that is no longer in it.
 */
export function decideReplay(
  { webhooks, replays }: SubjectWebhooks,
  id: string | undefined,
  at: number,
  only?: Webhook['state'],
): Decided<ReplayRefusal> {
  const wanted = webhooks.filter((each) => id === undefined || each.id === id);
  if (wanted.length === 0) return { kind: 'refused', refusal: { code: 'webhook_not_found' } };
  const asked = wanted.filter(
    ({ state, nextAt }) => (state !== 'open' || nextAt > 0) && (only === undefined || state === only),
  );
  if (replays + asked.length > replaysMax) return { kind: 'refused', refusal: { code: 'too_many_replays' } };
  return {
    kind: 'events',
    events: asked.map((each) => ({ type: 'ReplayRequested', data: { id: each.id, at } })),
  };
}
