/** Everything that somebody would tell of a payment, in order: events, calls with their windows, webhooks with their tries. */
import { type Html, html } from '@tollgate/service-kit';
import { eventSentences, texts } from '../texts.ts';
import { amountText } from './amount.ts';
import { type CallSpan, callsIn } from './calls.ts';
import { sign } from './state.ts';
import { durationText, timeOfDay, zone } from './time.ts';

export interface TimelineEvent {
  revision: number;
  type: string;
  at: string;
  phase: string;
  cause: {
    correlationId: string;
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
  body: unknown;
  deliveries: readonly {
    attempt: number;
    at: string;
    outcome: 'delivered' | 'failed';
    statusCode?: number;
    reason?: string;
  }[];
}

interface Entry {
  at: number;
  item: Html;
}

/** Shorter silences say nothing. */
const gapMs = 60_000;

export function timeline(
  events: readonly TimelineEvent[],
  webhooks: readonly TimelineWebhook[],
  currency: string,
): Html {
  const entries: Entry[] = [
    ...events.map((event) => ({ at: Date.parse(event.at), item: eventItem(event, currency) })),
    ...callsIn(events).map((call) => ({ at: Date.parse(call.announcedAt), item: callItem(call) })),
    ...webhooks.map((webhook) => ({ at: Date.parse(webhook.createdAt), item: webhookItem(webhook) })),
  ].sort((one, other) => one.at - other.at);
  const items = entries.flatMap(({ at, item }, place) => {
    const silence = at - (entries[place - 1]?.at ?? at);
    return silence > gapMs ? [html`<li class="gap">${durationText(silence)}</li>`, item] : [item];
  });
  const kinds = Object.entries(texts.payment.kinds).map(
    ([kind, name]) =>
      html`<label class="kind"
        ><input type="checkbox" name="show-${kind}" class="show-${kind}" checked />${name}</label
      >`,
  );
  return html`<div class="timeline">
    <div class="kinds">${kinds}${zone}</div>
    <ol>
      ${items}
    </ol>
  </div>`;
}

const toneOfEvent = (type: string): string => {
  if (/Approved$/.test(type)) return 'good';
  if (/Declined$|Refused$|Failed$/.test(type)) return 'bad';
  return /Unresolved$|NotFound$|ReviewOpened|Revised$|External/.test(type) ? 'note' : 'calm';
};

function eventItem({ type, at, cause, data, stored, revision }: TimelineEvent, currency: string): Html {
  const sum =
    typeof data['amount'] === 'number' ? html` <b>${amountText(data['amount'], currency)}</b>` : undefined;
  const why = [data['reason'], data['declineReason'], data['code'], data['resolution']].filter(
    (each) => typeof each === 'string',
  );
  const told = why.length === 0 ? undefined : html` <span class="why">${why.join(' · ')}</span>`;
  return html`<li class="event ${toneOfEvent(type)}">
    ${timeOfDay(at)}${sign(toneOfEvent(type))}
    <div>
      <p>${eventSentences[type] ?? type}${sum}${told}</p>
      <p class="cause">
        <code>${type}</code> · ${actorText(cause.actor)} ·
        <code>${shownCause(cause.correlationId)}</code>
      </p>
      ${stored === undefined ? undefined : rawEvent(stored, revision)}
    </div>
  </li>`;
}

const rawEvent = (stored: unknown, revision: number): Html =>
  html`<details class="raw" id="raw-${revision}">
    <summary>${texts.payment.raw}</summary>
    <pre><code>${JSON.stringify(stored, null, 2)}</code></pre>
  </details>`;

/** The id of a request leads to its record; what else set an event off is told apart by its beginning. */
const shownCause = (correlationId: string): string =>
  correlationId.startsWith('req_') ? correlationId : correlationId.slice(0, 8);

function actorText({ kind, team = '', keyId = '', name = '' }: TimelineEvent['cause']['actor']): string {
  if (kind === 'team') return texts.payment.by.team(team, keyId);
  return kind === 'person' ? texts.payment.by.person(name) : texts.payment.by.service(name);
}

function callItem({
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

function webhookItem({ url, state, createdAt, body, deliveries, id }: TimelineWebhook): Html {
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
        ${tries}
      </ol>
      <details class="raw" id="webhook-${id}">
        <summary>${texts.payment.raw}</summary>
        <pre><code>${JSON.stringify(body, null, 2)}</code></pre>
      </details>
    </div>
  </li>`;
}
