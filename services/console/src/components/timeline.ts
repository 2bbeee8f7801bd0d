/** One timeline of events, calls, callbacks, webhooks and disputes. The reader can hide each kind. */
import { type Html, html } from '@tollgate/service-kit';
import { callbacksIn, callsIn } from './calls.ts';
import { durationText, time, zone } from './time.ts';
import {
  type TimelineDispute,
  type TimelineEvent,
  type TimelineWebhook,
  callItem,
  callbackItem,
  disputeItem,
  eventItem,
  webhookItem,
  laneOf,
} from './timeline-items.ts';

export interface Timeline {
  events: readonly TimelineEvent[];
  webhooks: readonly TimelineWebhook[];
  disputes: readonly TimelineDispute[];
  currency: string;
  /** Resends a webhook, if the reader may. */
  replayForm: ((webhook: TimelineWebhook) => Html) | undefined;
  /** URL of the page, for a link to the other order; if absent, the oldest entry is first. */
  address?: string;
}

const laneNames = {
  event: 'Events',
  refund: 'Refunds',
  call: 'Calls',
  callback: 'Callbacks',
  webhook: 'Webhooks',
  dispute: 'Disputes',
};
type Lane = keyof typeof laneNames;

interface Entry {
  lane: Lane;
  at: string;
  item: Html;
}

/** Shorter gaps are not shown. @unit milliseconds */
const gapMs = 60_000;

export function timeline(parts: Timeline): Html {
  const entries = entriesOf(parts);
  const items = entries.flatMap(({ at, item }, place) => {
    const before = entries[place - 1];
    const silence = before === undefined ? 0 : Date.parse(at) - Date.parse(before.at);
    return silence > gapMs ? [gap(silence, at), item] : [item];
  });
  const shown = new Set(entries.map(({ lane }) => lane));
  const kinds = Object.entries(laneNames)
    .filter(([lane]) => shown.has(lane as Lane))
    .map(
      ([lane, name]) =>
        html`<label class="kind"
          ><input type="checkbox" name="show-${lane}" class="show-${lane}" checked />${name}</label
        >`,
    );
  const [isNewestFirst, other] = orderOf(parts.address);
  return html`<div class="timeline">
    <div class="kinds">
      ${kinds}${zone}${other === undefined ? undefined : html`<a href="${other}">${isNewestFirst ? 'Oldest first' : 'Newest first'}</a>`}
    </div>
    <ol>
      ${isNewestFirst ? items.toReversed() : items}
    </ol>
  </div>`;
}

/** The other order has its own URL, so that it works without script and can be shared. */
function orderOf(address: string | undefined): [isNewestFirst: boolean, other: string | undefined] {
  if (address === undefined) return [false, undefined];
  const [path = '', query = ''] = address.split('?', 2);
  const asked = new URLSearchParams(query);
  const isNewestFirst = asked.get('timeline') === 'newest';
  if (isNewestFirst) asked.delete('timeline');
  else asked.set('timeline', 'newest');
  return [isNewestFirst, `${path}${asked.size === 0 ? '' : `?${asked.toString()}`}#timeline`];
}

/** Sorts by time; of simultaneous entries, the cause comes first. */
function entriesOf({ events, webhooks, disputes, currency, replayForm }: Timeline): Entry[] {
  const entry = (lane: Lane, at: string, item: Html): Entry => ({ lane, at, item });
  const entries = [
    ...callbacksIn(events).map((each) => entry('callback', each.at, callbackItem(each))),
    ...events.map((each) => entry(laneOf(each), each.at, eventItem(each, currency, sumOf(each, events)))),
    ...callsIn(events).map((each) => entry('call', each.announcedAt, callItem(each))),
    ...webhooks.map((each) => entry('webhook', each.createdAt, webhookItem(each, replayForm?.(each)))),
    ...disputes.map((each) => entry('dispute', each.createdAt, disputeItem(each))),
  ];
  return entries.sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
}

/** Only the request of a refund contains its amount. */
function sumOf({ data }: TimelineEvent, events: readonly TimelineEvent[]): number | undefined {
  const refundToken = data['refundToken'];
  const requested =
    refundToken === undefined ? undefined : events.find((each) => each.data['refundToken'] === refundToken);
  const sum = data['amount'] ?? requested?.data['amount'];
  return typeof sum === 'number' ? sum : undefined;
}

/** Includes the day, which the rows omit. */
const gap = (silenceMs: number, until: string): Html =>
  html`<li class="gap">${durationText(silenceMs)} · ${time(until)}</li>`;
