/** The notifications of one payment or payout (the subject), folded from their events, and what may be added to them. Pure. */
import type { Decision } from '@tollgate/event-store';
import { InvariantViolation, type Environment } from '@tollgate/payment-domain';
import { given } from '@tollgate/service-kit';
import type {
  FailureReason,
  NotificationBody,
  NotificationEvent,
  NotificationEventOf,
} from './notification-events.ts';

/** One try. It has a status code where there was an answer, else a reason. */
export interface Delivery {
  attempt: number;
  at: number;
  statusCode?: number;
  reason?: FailureReason;
  isDelivered: boolean;
}

export interface Notification {
  id: string;
  environment: Environment;
  team: string;
  url: string;
  body: NotificationBody;
  createdAt: number;
  state: 'open' | 'delivered' | 'given_up';
  /** When the next try is due, while open. 0 is at once, whatever the clock says: so a jump of it changes no order. */
  nextAt: number;
  /** Since it became due, or was last asked for again. */
  failuresInRow: number;
  deliveries: readonly Delivery[];
}

/** In the order in which they became due. */
export interface SubjectNotifications {
  notifications: readonly Notification[];
  replays: number;
}

export const noNotifications: SubjectNotifications = { notifications: [], replays: 0 };

/** Replays of one subject at most: its stream is read at every try. */
export const replaysMax = 200;

/** What became of a try. */
export type Outcome = { kind: 'answered'; statusCode: number } | { kind: 'failed'; reason: FailureReason };

export interface ReplayRefusal {
  code: 'notification_not_found' | 'too_many_replays';
}

/** The state after an event. @throws InvariantViolation for an event of a notification that is not there. */
export function evolveNotifications(
  state: SubjectNotifications,
  event: NotificationEvent,
): SubjectNotifications {
  if (event.type === 'NotificationDue')
    return { ...state, notifications: [...state.notifications, begin(event.data)] };
  if (!state.notifications.some(({ id }) => id === event.data.id))
    throw new InvariantViolation(`${event.type} is of a notification that is not there`);
  return {
    notifications: state.notifications.map((each) => (each.id === event.data.id ? apply(each, event) : each)),
    replays: state.replays + (event.type === 'ReplayRequested' ? 1 : 0),
  };
}

const begin = ({ at, ...data }: NotificationEventOf<'NotificationDue'>['data']): Notification => ({
  ...data,
  createdAt: at,
  state: 'open',
  nextAt: 0,
  failuresInRow: 0,
  deliveries: [],
});

function apply(
  notification: Notification,
  event: Exclude<NotificationEvent, { type: 'NotificationDue' }>,
): Notification {
  const { deliveries, failuresInRow } = notification;
  switch (event.type) {
    case 'DeliveryFailed': {
      const { id: _, nextAt = notification.nextAt, ...tried } = event.data;
      const next = { nextAt, failuresInRow: failuresInRow + 1 };
      return { ...notification, ...next, deliveries: [...deliveries, { ...tried, isDelivered: false }] };
    }
    case 'Delivered': {
      const { id: _, ...tried } = event.data;
      return {
        ...notification,
        state: 'delivered',
        deliveries: [...deliveries, { ...tried, isDelivered: true }],
      };
    }
    case 'DeliveryGivenUp':
      // Another process may have got through meanwhile: that stands.
      return notification.state === 'open' ? { ...notification, state: 'given_up' } : notification;
    case 'ReplayRequested':
      return { ...notification, state: 'open', nextAt: 0, failuresInRow: 0 };
  }
}

/** When the next try of any notification is due; undefined where none is open. */
export function nextTryAt({ notifications }: SubjectNotifications): number | undefined {
  const times = notifications.filter(({ state }) => state === 'open').map(({ nextAt }) => nextAt);
  return times.length === 0 ? undefined : Math.min(...times);
}

/** The notification to try now: the one that is due for longest, and of several at once the first that became due. */
export function dueNotification(
  { notifications }: SubjectNotifications,
  now: number,
): Notification | undefined {
  const due = notifications.filter(({ state, nextAt }) => state === 'open' && nextAt <= now);
  return due.toSorted((a, b) => a.nextAt - b.nextAt)[0];
}

type Decided<Refusal = never> = Decision<NotificationEvent, Refusal>;

/** Records what the team is to be told; what is on record already adds nothing, so it may be decided again. */
export function decideDue(
  state: SubjectNotifications,
  due: readonly NotificationEventOf<'NotificationDue'>['data'][],
): Decided {
  const isNew = ({ id }: { id: string }) => !state.notifications.some((known) => known.id === id);
  return { kind: 'events', events: due.filter(isNew).map((data) => ({ type: 'NotificationDue', data })) };
}

/** Records a try. `nextAtAfter` gives when to try again after so many failures, undefined where it is over. */
export function decideOutcome(
  state: SubjectNotifications,
  tried: { id: string; at: number; outcome: Outcome },
  nextAtAfter: (failuresInRow: number) => number | undefined,
): Decided {
  const { id, at, outcome } = tried;
  const notification = state.notifications.find((each) => each.id === id);
  if (notification === undefined)
    throw new InvariantViolation('a try is of a notification that is not there');
  const base = { id, attempt: notification.deliveries.length + 1, at };
  if (outcome.kind === 'answered' && isAccepted(outcome.statusCode))
    return {
      kind: 'events',
      events: [{ type: 'Delivered', data: { ...base, statusCode: outcome.statusCode } }],
    };
  const why = outcome.kind === 'answered' ? { statusCode: outcome.statusCode } : { reason: outcome.reason };
  const isOpen = notification.state === 'open';
  const nextAt = isOpen ? nextAtAfter(notification.failuresInRow + 1) : undefined;
  const failed: NotificationEvent = {
    type: 'DeliveryFailed',
    data: { ...base, ...why, ...given({ nextAt }) },
  };
  const isOver = isOpen && nextAt === undefined;
  return {
    kind: 'events',
    events: isOver ? [failed, { type: 'DeliveryGivenUp', data: { id, at } }] : [failed],
  };
}

const isAccepted = (statusCode: number): boolean => statusCode >= 200 && statusCode < 300;

/** Asks for one notification once more, or for all of the subject's. One that is to be sent at once anyhow stays as it is. */
export function decideReplay(
  { notifications, replays }: SubjectNotifications,
  id: string | undefined,
  at: number,
): Decided<ReplayRefusal> {
  const wanted = notifications.filter((each) => id === undefined || each.id === id);
  if (wanted.length === 0) return { kind: 'refused', refusal: { code: 'notification_not_found' } };
  const asked = wanted.filter(({ state, nextAt }) => state !== 'open' || nextAt > 0);
  if (replays + asked.length > replaysMax) return { kind: 'refused', refusal: { code: 'too_many_replays' } };
  return {
    kind: 'events',
    events: asked.map((each) => ({ type: 'ReplayRequested', data: { id: each.id, at } })),
  };
}
