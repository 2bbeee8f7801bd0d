/**
 * One request: its input, answer and effects. Request bodies are not stored: the input is shown as recorded in the
 * events, without card and account numbers.
 */
import type { AnswerOf } from '@tollgate/gateway-api/http';
import { type Html, html, omitUndefined } from '@tollgate/service-kit';
import type { Api } from '../api.ts';
import { reasonIn } from '../components/event-reason.ts';
import { factList } from '../components/facts.ts';
import { panel } from '../components/form.ts';
import { phaseName } from '../components/state.ts';
import { durationText, time } from '../components/time.ts';
import { timeline } from '../components/timeline.ts';
import type { TimelineEvent } from '../components/timeline-items.ts';
import { copyable } from '../components/token.ts';

type FoundRequest = NonNullable<AnswerOf<'SearchResults'>['request']>;

export async function requestPanel(request: FoundRequest, api: Api): Promise<Html> {
  const { method, route = '', durationMs, ownMs, providerMs } = request;
  const events = await eventsOf(request, api);
  const body = bodyOf(request, events);
  const command = curlOf(request, body);
  const shown = { events, webhooks: [], disputes: [], currency: currencyOf(events), replayForm: undefined };
  const content = html`${factList([
      ['Received', time(request.at)],
      ['Route', html`<code>${method} ${route}</code>`],
      [
        'Duration',
        `${durationText(durationMs)}: gateway ${durationText(ownMs)}, Payment Service ${durationText(providerMs)}`,
      ],
      ['Team', `${request.team}, ${request.environment}`],
      ['Key', copyable(request.keyId)],
      ['X-Request-Id', request.clientRequestId && copyable(request.clientRequestId)],
    ])}
    <div class="split">
      <div>
        <h3>Sent <small>${copyable(command, 'Copy as curl')}</small></h3>
        ${body === undefined ? html`<p class="calm">No body is known.</p>` : html`<pre class="command"><code>${body}</code></pre>`}
      </div>
      <div>
        <h3>Answer</h3>
        <pre class="command"><code>${answerOf(request, events)}</code></pre>
      </div>
    </div>
    ${
      events.length === 0
        ? undefined
        : html`<h3>Effect</h3>
            ${timeline(shown)}`
    }`;
  return panel('request', html`Request ${copyable(request.id)}`, content);
}

/** The events that the request caused. */
async function eventsOf({ id, token }: FoundRequest, { call }: Api): Promise<TimelineEvent[]> {
  if (token === undefined || !/^(pay|po)_/.test(token)) return [];
  const kind = token.startsWith('pay_') ? 'payments' : 'payouts';
  const path = `/api/v1/admin/${kind}/${encodeURIComponent(token)}/events`;
  const answer = await call<{ events: TimelineEvent[] }>({ path });
  if (answer.kind === 'refused') return [];
  const { events } = answer.body;
  // The first event contains the currency, which the others omit.
  const currency = currencyOf(events);
  return events
    .filter(({ cause }) => cause.correlationId === id)
    .map((event) => ({ ...event, data: { currency, ...event.data } }));
}

function currencyOf([first]: readonly TimelineEvent[]): string {
  const currency = first?.data['currency'];
  return typeof currency === 'string' ? currency : '';
}

/** Fields that the gateway added to the request. */
const added = new Set([
  'kind',
  'attempt',
  'sendBy',
  'refundToken',
  'currency',
  'approval',
  'lapsesAt',
  'askedBy',
]);
const isRequested = ({ type }: TimelineEvent): boolean => /(Requested|Submitted)$/.test(type);

function bodyOf({ token }: FoundRequest, events: readonly TimelineEvent[]): string | undefined {
  const event = events.find(isRequested);
  if (event === undefined) return undefined;
  const terms = Object.entries(event.data).filter(([name]) => !added.has(name));
  const isNew = /^(Payment|Payout)/.test(event.type);
  const about = isNew ? { currency: event.data['currency'] } : { token };
  return JSON.stringify({ ...about, ...Object.fromEntries(terms) }, null, 2);
}

function answerOf({ status, errorCode, token }: FoundRequest, events: readonly TimelineEvent[]): string {
  if (status === undefined) return 'No answer: the client disconnected.';
  const last = events.at(-1);
  const why = last && reasonIn(last.data);
  const answer = omitUndefined({ errorCode, token, state: last && phaseName(last.phase), reason: why });
  return `HTTP ${status}\n${JSON.stringify(answer, null, 2)}`;
}

/**
 * A curl command for a terminal with the URL and a key in its environment. It uses a new idempotency key, because the
 * old one is in use.
 */
function curlOf({ method, route = '', token = '' }: FoundRequest, body: string | undefined): string {
  const path = route.replace(':token', encodeURIComponent(token));
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;
  return [
    `curl -sS -X ${method} "$TOLLGATE_URL"${quoted(path)} -H "Authorization: Bearer $TOLLGATE_API_KEY"`,
    ...(body === undefined
      ? []
      : [`-H 'Content-Type: application/json' -H "Idempotency-Key: $(date +%s)" -d ${quoted(body)}`]),
  ].join(' \\\n  ');
}
