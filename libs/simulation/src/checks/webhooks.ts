/**
 * A webhook reports the recorded data, arrives in order the first time, and in the end reaches every endpoint of its team. Not
 * checked after a restore.
 */
import type { RecordedEvent } from '@tollgate/event-store';
import type { WebhookBody } from '@tollgate/gateway-api';
import type { WebhookClient } from '@tollgate/webhooks';
import { type TeamName, endpointUrlOf, teamNames, webhookUrlOf } from '../people/teams.ts';
import type { World } from '../world.ts';
import { type OperationOnRecord, isFinal, isPaid } from './books.ts';

type Receiver = ReturnType<typeof createReceiver>;
type ReceivedWebhook = ReturnType<typeof readWebhook>;

const failuresMany = 4;

function createFailureCounts() {
  /** By stream and webhook. */
  const failures = new Map<string, number>();
  return {
    noteTry({ stream, type, data }: RecordedEvent): void {
      const key = `${stream} ${(data as { id: string }).id}`;
      if (type === 'DeliveryFailed') failures.set(key, (failures.get(key) ?? 0) + 1);
      else failures.delete(key);
    },
    // After a minute of failures the next attempt is hours away.
    isPutOff: (stream: string): boolean =>
      [...failures].some(([key, count]) => key.startsWith(`${stream} `) && count >= failuresMany),
  };
}

export function createWebhookChecks({ books, complain, saw, isRestored }: World) {
  const receivers = teamNames.flatMap((team) => [
    createReceiver(team, webhookUrlOf(team), ''),
    createReceiver(team, endpointUrlOf(team), undefined),
  ]);
  const receiverAt = (url: string) => receivers.find((each) => each.url === url);
  /** The recorded state after each event, of payments, payouts, refunds and disputes, by token and event. */
  const onRecord = new Map<string, { status: string; amount: number; position: string }>();
  const { isPutOff, noteTry } = createFailureCounts();

  function noteState({ revision, position }: RecordedEvent, operation: OperationOnRecord): void {
    const { token, amount, approvedAmount, phase, refunds, disputes } = operation;
    // The requested amount, if nothing was taken.
    const own = { state: statusOf(phase), amount: isPaid(operation) ? approvedAmount || amount : amount };
    for (const [each, { state: status, amount: sum }] of [[token, own] as const, ...refunds, ...disputes])
      onRecord.set(`${each} ${revision}`, { status, amount: sum, position });
  }

  function noteEndpoint({ data, position }: RecordedEvent): void {
    const { url, id } = data as { url: string; id: string };
    const added = receiverAt(url);
    if (added === undefined) return;
    if (added.since !== undefined) complain('webhooks', `the endpoint of ${added.team} was added twice`);
    Object.assign(added, { since: position, streams: `webhook-${id}.` });
  }

  /** Redelivery is allowed, including out of order; first deliveries follow the order of the events. */
  function take({ url, received, latest }: Receiver, webhook: ReceivedWebhook): void {
    const { token, subject, sequence, status, amount, line } = webhook;
    const there = onRecord.get(`${token} ${sequence}`);
    if (there?.status !== status || there.amount !== amount)
      complain(
        'webhooks',
        `${line} says ${amount}, and on record it is ${there?.status} over ${there?.amount}`,
      );
    const before = latest.get(subject) ?? -1;
    if (sequence < before && !received.has(line))
      complain('webhooks', `${url}: ${line} comes after event ${before}`);
    latest.set(subject, Math.max(before, sequence));
    received.set(line, webhook);
  }

  /** Webhooks that another address of the team has received, and this one should have. */
  function missingAt({ team, url, received, since, streams }: Receiver): string[] {
    if (since === undefined) return [];
    const isDue = ({ subject, sequence }: ReceivedWebhook) =>
      (onRecord.get(`${subject} ${sequence}`)?.position ?? '') > since && !isPutOff(`${streams}${subject}`);
    return receivers
      .filter((each) => each.team === team)
      .flatMap((each) => [...each.received.values()])
      .filter((webhook) => !received.has(webhook.line) && isDue(webhook))
      .map(({ line }) => `${url} was not sent: ${line}`);
  }

  function isReported({ token, team, phase }: OperationOnRecord): boolean {
    const sent = [...(receiverAt(webhookUrlOf(team as TeamName))?.received.values() ?? [])];
    const isSent = sent.some((each) => each.token === token && each.status === statusOf(phase));
    return isSent || isPutOff(`webhook-${token}`);
  }

  return {
    onRecorded: (event: RecordedEvent, operation: OperationOnRecord | undefined): void => {
      if (isRestored()) return;
      if (operation !== undefined) noteState(event, operation);
      if (event.stream.startsWith('webhook-')) noteTry(event);
      if (event.type === 'EndpointAdded') noteEndpoint(event);
    },
    receive: ({ url, body }: Parameters<WebhookClient['post']>[0]): void => {
      const receiver = receiverAt(url);
      if (receiver === undefined || isRestored()) return;
      saw(receiver.streams === 'webhook-' ? 'webhook received' : 'a webhook to an endpoint');
      take(receiver, readWebhook(body));
    },
    /** Webhooks that an address should have received and has not. */
    differences: (): string[] => {
      if (isRestored()) return [];
      const unreported = books.all().filter((each) => isFinal(each) && !each.isAdopted && !isReported(each));
      return [
        ...receivers.flatMap(missingAt),
        ...unreported.map(
          ({ token, phase }) => `no webhook has reported to the team that ${token} is ${phase}`,
        ),
      ];
    },
  };
}

/** A team's webhook address: the `callbackUrl` of its payments and payouts, or its endpoint. */
const createReceiver = (team: TeamName, url: string, since: string | undefined) => ({
  team,
  url,
  /** Webhooks by content, each once. */
  received: new Map<string, ReceivedWebhook>(),
  /** The latest event received for each payment and payout. */
  latest: new Map<string, number>(),
  /** The first position it is sent; undefined before it was added. */
  since,
  /** Prefix of its stream names. */
  streams: 'webhook-',
});

function readWebhook(text: string) {
  const { token, paymentToken, type, status, sequence = -1, amount } = JSON.parse(text) as WebhookBody;
  /** The payment or payout that the event belongs to. */
  const subject = paymentToken ?? token;
  const line = `${type} ${token} ${status} of event ${sequence} of ${subject}`;
  return { token, subject, status, sequence, amount, line };
}

/** Public statuses of phases with a different name. */
const statuses: Record<string, string> = {
  requested: 'init',
  unresolved: 'init',
  authorized: 'pending',
  capturing: 'pending',
  voiding: 'pending',
  awaiting_approval: 'pending',
  approval_granted: 'pending',
  voided: 'declined',
  failed: 'declined',
};
const statusOf = (phase: string): string => statuses[phase] ?? phase;
