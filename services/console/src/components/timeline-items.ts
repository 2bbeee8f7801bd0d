/** The rows of a timeline: events, callbacks, calls with their time windows, webhooks with their attempts, disputes. */
import { paymentEvents, payoutEvents, type PublicEvent } from '@tollgate/gateway-api';
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html } from '@tollgate/service-kit';
import { texts } from '../texts.ts';
import { amount, amountText } from './amount.ts';
import type { CallSpan, CallbackMark } from './calls.ts';
import { changeIn, reasonIn, reviewIn } from './event-reason.ts';
import { sign } from './state.ts';
import { durationText, relative, timeOfDay } from './time.ts';
import { copyable } from './token.ts';

type HistoryEvent = AnswerOf<'OperatorHistory'>['events'][number];
export type TimelineEvent = Omit<HistoryEvent, 'stored'> & Partial<Pick<HistoryEvent, 'stored'>>;
export type TimelineWebhook = AnswerOf<'WebhookList'>['webhooks'][number];
export type TimelineDispute = AnswerOf<'OperatorPayment'>['disputes'][number];

const events: Readonly<Record<string, PublicEvent>> = { ...payoutEvents, ...paymentEvents };

const callOutcomes: Readonly<Record<string, string>> = {
  accepted: 'accepted',
  refused: 'refused',
  declined: 'declined',
  'not sent': 'not sent',
  'not found': 'not found',
  unknown: 'outcome unknown',
  'under way': 'under way',
};

const toneOfEvent = (type: string): string => {
  if (/Approved$|DisputeWon$/.test(type)) return 'good';
  if (/Declined$|Refused$|Failed$|DisputeLost$/.test(type)) return 'bad';
  return /DisputeOpened$|Unresolved$|NotFound$|ReviewOpened|Revised$|External/.test(type) ? 'note' : 'calm';
};

/** The lane of an event. */
export function laneOf({ type }: Pick<TimelineEvent, 'type'>): 'refund' | 'dispute' | 'event' {
  if (type.startsWith('Dispute')) return 'dispute';
  return type.includes('Refund') ? 'refund' : 'event';
}

/** @param sum the event's amount in minor units */
export function eventItem(event: TimelineEvent, currency: string, sum: number | undefined): Html {
  const { type, at, cause, data, stored, revision } = event;
  const shown = sum === undefined ? undefined : html` <b>${amountText(sum, currency)}</b>`;
  const why = [reviewIn(data), changeIn(data), reasonIn(data)].filter((each) => each !== undefined);
  return html`<li class="${laneOf(event)} ${toneOfEvent(type)}">
    ${timeOfDay(at)}${sign(toneOfEvent(type))}
    <div>
      <p>${events[type]?.meaning ?? type}${shown}</p>
      ${why.length === 0 ? undefined : html`<p class="why">${why.join(' · ')}</p>`}
      <p class="cause"><code>${type}</code> · ${actorText(cause.actor)} · ${causeOf(cause)}</p>
      ${stored === undefined ? undefined : raw(`raw-${revision}`, stored)}
    </div>
  </li>`;
}

export const raw = (id: string, stored: unknown, title: string = 'Stored event'): Html =>
  html`<details class="raw" id="${id}">
    <summary>${title}</summary>
    <pre><code>${JSON.stringify(stored, null, 2)}</code></pre>
  </details>`;

/** Links the cause of an event to its page; a cause without a page is identified by its first characters. */
function causeOf({ correlationId, causationId }: TimelineEvent['cause']): Html {
  if (correlationId.startsWith('req_'))
    return html`<a href="/console/search?q=${encodeURIComponent(correlationId)}"
      ><code>${correlationId}</code></a
    >`;
  if (correlationId.startsWith('rcn_'))
    return html`<a href="/console/reconciliations/${encodeURIComponent(correlationId)}"
      ><code>${correlationId}</code></a
    >`;
  return html`<code>${causationId.includes('/') ? causationId : correlationId.slice(0, 8)}</code>`;
}

function actorText({ kind, team = '', keyId = '', name = '' }: TimelineEvent['cause']['actor']): string {
  if (kind === 'team') return `team ${team}, key ${keyId}`;
  return kind === 'person' ? (name === '' ? 'a person' : name) : name;
}

export const callbackItem = ({ place, at, led }: CallbackMark): Html =>
  html`<li class="callback calm">
    ${timeOfDay(at)}${sign('calm')}
    <div>
      <p>A callback arrived, and the gateway checked the status.</p>
      <p class="cause">Result: ${led.map((type) => html`<code>${type}</code> `)}· <code>${place}</code></p>
    </div>
  </li>`;

const tonesOfOutcomes: Readonly<Record<string, string>> = {
  accepted: 'good',
  unknown: 'note',
  'under way': 'busy',
};

export function callItem(call: CallSpan): Html {
  const { operation, announcedAt, settledAt, sendBy, number, isUnresolved, why } = call;
  const name = texts.operations[operation] ?? operation;
  const outcome = call.outcome ?? (isUnresolved ? 'unknown' : 'under way');
  const took =
    settledAt === undefined
      ? undefined
      : `after ${durationText(Date.parse(settledAt) - Date.parse(announcedAt))}`;
  const tone = tonesOfOutcomes[outcome] ?? 'bad';
  const found = isUnresolved && settledAt !== undefined ? 'Resolved by a status inquiry.' : undefined;
  return html`<li class="call ${tone}">
    ${timeOfDay(announcedAt)}${sign(tone)}
    <div>
      <p>
        ${
          number > 1
            ? `Call to the Payment Service: ${name} ${number},`
            : `Call to the Payment Service: ${name},`
        } <b>${callOutcomes[outcome]}</b> ${took}
      </p>
      ${why === undefined ? undefined : html`<p class="why">${why}</p>`}
      <p class="cause">
        ${found} ${sendBy === undefined ? undefined : html`Send deadline ${timeOfDay(sendBy)}`}
      </p>
    </div>
  </li>`;
}

/** @param replayForm resends it; only if the reader may */
export function webhookItem(webhook: TimelineWebhook, replayForm: Html | undefined): Html {
  const { url, state, createdAt, nextAttemptAt, body, deliveries, id } = webhook;
  const tone = state === 'delivered' ? 'good' : state === 'open' ? 'busy' : 'bad';
  return html`<li class="webhook ${tone}">
    ${timeOfDay(createdAt)}${sign(tone)}
    <div>
      <p>Webhook to <code>${url}</code>: <b>${texts.webhookStates[state] ?? state}</b></p>
      ${triesOf(deliveries)}
      ${nextAttemptAt === undefined ? undefined : html`<p class="cause">Next attempt ${relative(nextAttemptAt)}</p>`}
      ${raw(`webhook-${id}`, body, 'Body')} ${replayForm}
    </div>
  </li>`;
}

/** Every attempt of a webhook. */
export const triesOf = (deliveries: TimelineWebhook['deliveries']): Html =>
  html`<ol class="tries">
    ${deliveries.map(({ at, outcome, statusCode, reason, durationMs, responseBody }) => {
      const answer = statusCode === undefined ? undefined : `HTTP ${statusCode}`;
      const why = reason?.replaceAll('_', ' ');
      const took = durationMs === undefined ? undefined : `after ${durationText(durationMs)}`;
      return html`<li>
        ${timeOfDay(at)} ${texts.webhookStates[outcome] ?? outcome}:
        ${[answer, why, took].filter((each) => each !== undefined).join(', ')}
        ${responseBody === undefined ? undefined : html`<pre class="answer">${responseBody}</pre>`}
      </li>`;
    })}
  </ol>`;

export function disputeItem(dispute: TimelineDispute): Html {
  const { id, createdAt, status, type = '', reasonCode = '', comment = '' } = dispute;
  const details = [type, reasonCode, comment].filter((each) => each !== '').join(' · ');
  return html`<li class="dispute note">
    ${timeOfDay(createdAt)}${sign('note')}
    <div>
      <p>
        Dispute over ${amount(dispute.amount, dispute.currency)}:
        <b>${texts.disputeStates[status] ?? status}</b>
      </p>
      <p class="why">${details}</p>
      <p class="cause">${copyable(id)}</p>
    </div>
  </li>`;
}
