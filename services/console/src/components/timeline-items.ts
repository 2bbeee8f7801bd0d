/** The rows of a timeline: events, callbacks, calls with their windows, webhooks with their tries, disputes. */
import { type Html, html } from '@tollgate/service-kit';
import { eventSentences, texts } from '../texts.ts';
import { amount, amountText } from './amount.ts';
import type { CallSpan, CallbackMark } from './calls.ts';
import { sign } from './state.ts';
import { durationText, relative, timeOfDay } from './time.ts';

export interface TimelineEvent {
  revision: number;
  type: string;
  at: string;
  phase: string;
  cause: {
    correlationId: string;
    causationId: string;
    actor: { kind: string; team?: string; keyId?: string; name?: string };
  };
  data: Readonly<Record<string, unknown>>;
  /** Absent where the API tells it to teams only. */
  stored?: unknown;
}

export interface TimelineWebhook {
  id: string;
  url: string;
  state: string;
  createdAt: string;
  nextAttemptAt?: string;
  body: unknown;
  deliveries: readonly {
    attempt: number;
    at: string;
    outcome: 'delivered' | 'failed';
    statusCode?: number;
    reason?: string;
  }[];
}

export interface TimelineDispute {
  id: string;
  createdAt: string;
  amount: number;
  currency: string;
  status: string;
  type?: string;
  reasonCode?: string;
  comment?: string;
}

const words = texts.payment;

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

export function eventItem(event: TimelineEvent, currency: string): Html {
  const { type, at, cause, data, stored, revision } = event;
  const sum =
    typeof data['amount'] === 'number' ? html` <b>${amountText(data['amount'], currency)}</b>` : undefined;
  const why = [data['reason'], data['declineReason'], data['code'], data['resolution']].filter(
    (each) => typeof each === 'string',
  );
  const whyText = why.length === 0 ? undefined : html` <span class="why">${why.join(' · ')}</span>`;
  return html`<li class="${laneOf(event)} ${toneOfEvent(type)}">
    ${timeOfDay(at)}${sign(toneOfEvent(type))}
    <div>
      <p>${eventSentences[type] ?? type}${sum}${whyText}</p>
      <p class="cause"><code>${type}</code> · ${actorText(cause.actor)} · ${causeOf(cause)}</p>
      ${stored === undefined ? undefined : raw(`raw-${revision}`, stored)}
    </div>
  </li>`;
}

const raw = (id: string, stored: unknown): Html =>
  html`<details class="raw" id="${id}">
    <summary>${words.raw}</summary>
    <pre><code>${JSON.stringify(stored, null, 2)}</code></pre>
  </details>`;

/** Links the cause of an event to its page; a cause without one is identified by its first characters. */
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
  if (kind === 'team') return words.by.team(team, keyId);
  return kind === 'person' ? words.by.person(name) : words.by.service(name);
}

export const callbackItem = ({ place, at, led }: CallbackMark): Html =>
  html`<li class="callback calm">
    ${timeOfDay(at)}${sign('calm')}
    <div>
      <p>${words.callback}</p>
      <p class="cause">
        ${words.callbackLed} ${led.map((type) => html`<code>${type}</code> `)}· <code>${place}</code>
      </p>
    </div>
  </li>`;

export function callItem({
  operation,
  outcome,
  announcedAt,
  settledAt,
  sendBy,
  number,
  isUnresolved,
}: CallSpan): Html {
  const name = texts.operations[operation] ?? operation;
  const span =
    settledAt === undefined
      ? 'open'
      : `after ${durationText(Date.parse(settledAt) - Date.parse(announcedAt))}`;
  const tone =
    outcome === undefined ? (isUnresolved ? 'note' : 'busy') : outcome === 'accepted' ? 'good' : 'bad';
  const found = isUnresolved && outcome !== undefined ? ', found by an inquiry' : '';
  return html`<li class="call ${tone}">
    ${timeOfDay(announcedAt)}${sign(tone)}
    <div>
      <p>Call to the Payment Service: <b>${name}</b>${number > 1 ? html`, number ${number}` : undefined}</p>
      <p class="cause">
        announced → <b>${outcome ?? (isUnresolved ? 'unknown' : 'under way')}</b>${found} ${span}
        ${sendBy === undefined ? undefined : html`· sent before ${timeOfDay(sendBy)} or never`}
      </p>
    </div>
  </li>`;
}

/** @param replayForm sends it again; where the reader may */
export function webhookItem(webhook: TimelineWebhook, replayForm: Html | undefined): Html {
  const { url, state, createdAt, nextAttemptAt, body, deliveries, id } = webhook;
  const tone = state === 'delivered' ? 'good' : state === 'open' ? 'busy' : 'bad';
  const tries = deliveries.map(
    ({ attempt, at, outcome, statusCode, reason }) =>
      html`<li>
        ${timeOfDay(at)} ${attempt}.
        ${outcome}${statusCode === undefined ? undefined : html`, HTTP ${statusCode}`}${reason === undefined ? undefined : html`, ${reason}`}
      </li>`,
  );
  return html`<li class="webhook ${tone}">
    ${timeOfDay(createdAt)}${sign(tone)}
    <div>
      <p>Webhook to <code>${url}</code>: <b>${state}</b></p>
      <ol class="tries">
        ${tries}${nextAttemptAt === undefined ? undefined : html`<li>${texts.webhooks.next} ${relative(nextAttemptAt)}</li>`}
      </ol>
      ${raw(`webhook-${id}`, body)} ${replayForm}
    </div>
  </li>`;
}

export function disputeItem(dispute: TimelineDispute): Html {
  const { id, createdAt, status, type = '', reasonCode = '', comment = '' } = dispute;
  const details = [type, reasonCode, comment].filter((each) => each !== '').join(' · ');
  return html`<li class="dispute note">
    ${timeOfDay(createdAt)}${sign('note')}
    <div>
      <p>
        ${words.dispute} ${amount(dispute.amount, dispute.currency)}: <b>${status}</b>
        <span class="why">${details}</span>
      </p>
      <p class="cause"><code>${id}</code></p>
    </div>
  </li>`;
}
