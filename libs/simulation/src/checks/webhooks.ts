/**
 * A webhook reports the recorded data, arrives in order the first time, and in the end reaches every endpoint of its team. Not
 * checked after a restore.
 */
import type { RecordedEvent } from '@tollgate/event-store';
import type { WebhookClient } from '@tollgate/webhooks';
import { type TeamName, endpointUrlOf, teamNames, webhookUrlOf } from '../people/teams.ts';
import type { World } from '../world.ts';
import { type OperationOnRecord, isFinal } from './books.ts';

/** A team's webhook address: the `callbackUrl` of its payments and payouts, or its endpoint. */
interface Receiver {
  team: TeamName;
  url: string;
  /** Webhooks by content, each once. */
  received: Map<string, ReceivedWebhook>;
  /** The latest event received for each payment and payout. */
  latest: Map<string, number>;
  /** The first position it is sent; undefined before it was added. */
  since: string | undefined;
  /** Prefix of its stream names. */
  streams: string;
}

interface ReceivedWebhook {
  token: string;
  /** The payment or payout that the event belongs to; for a refund, its payment. */
  subject: string;
  /** Revision of the event. */
  sequence: number;
  status: string;
  /** Minor units. */
  amount: number;
  line: string;
}

export type WebhookChecks = ReturnType<typeof createWebhookChecks>;

type Parts = Pick<World, 'books' | 'complain' | 'saw' | 'isRestored'>;

export function createWebhookChecks(parts: Parts) {
  const { books, complain, saw, isRestored } = parts;
  const receivers = teamNames.flatMap((team) => [
    createReceiver(team, webhookUrlOf(team), ''),
    createReceiver(team, endpointUrlOf(team), undefined),
  ]);
  const receiverAt = (url: string) => receivers.find((each) => each.url === url);
  const record = createRecord(parts);
  /** Number of failures by stream and webhook. */
  const failures = new Map<string, number>();
  // After a minute of failures the next attempt is hours away.
  const isPutOff = (stream: string): boolean =>
    [...failures].some(([key, count]) => key.startsWith(`${stream} `) && count >= failuresMany);

  function noteEndpoint({ data, position }: RecordedEvent): void {
    const { url, id } = data as { url: string; id: string };
    const added = receiverAt(url);
    if (added === undefined) return;
    if (added.since !== undefined) complain('webhooks', `the endpoint of ${added.team} was added twice`);
    added.since = position;
    added.streams = `webhook-${id}.`;
  }

  function noteTry({ stream, type, data }: RecordedEvent): void {
    const key = `${stream} ${(data as { id: string }).id}`;
    if (type === 'DeliveryFailed') failures.set(key, (failures.get(key) ?? 0) + 1);
    else failures.delete(key);
  }

  /** Webhooks that another address of the team has received, and this one should have. */
  function missingAt({ team, url, received, since, streams }: Receiver): string[] {
    if (since === undefined) return [];
    return receivers
      .filter((each) => each.team === team)
      .flatMap((each) => [...each.received.values()])
      .filter(({ line }) => !received.has(line))
      .filter((webhook) => record.positionOf(webhook) > since && !isPutOff(`${streams}${webhook.subject}`))
      .map(({ line }) => `${url} was not sent: ${line}`);
  }

  function isReported({ token, team, phase }: OperationOnRecord): boolean {
    const status = statuses[phase] ?? phase;
    const sent = [...(receiverAt(webhookUrlOf(team as TeamName))?.received.values() ?? [])];
    const isSent = sent.some((each) => each.token === token && each.status === status);
    return isSent || isPutOff(`webhook-${token}`);
  }

  return {
    /** Runs after the books have applied the event. */
    onRecorded: (event: RecordedEvent): void => {
      if (isRestored()) return;
      record.note(event);
      if (event.stream.startsWith('webhook-')) noteTry(event);
      if (event.type === 'EndpointAdded') noteEndpoint(event);
    },
    receive: ({ url, body }: Parameters<WebhookClient['post']>[0]): void => {
      const receiver = receiverAt(url);
      if (receiver === undefined || isRestored()) return;
      const webhook = readWebhook(body);
      record.requireTrue(webhook);
      saw(receiver.streams === 'webhook-' ? 'webhook received' : 'a webhook to an endpoint');
      take(receiver, webhook, parts);
    },
    /** Webhooks that an address should have received and has not. */
    differences: (): string[] => [
      ...receivers.flatMap(missingAt),
      ...books
        .all()
        .filter((each) => isFinal(each) && !each.isAdopted && !isReported(each))
        .map(({ token, phase }) => `no webhook has reported to the team that ${token} is ${phase}`),
    ],
  };
}

const failuresMany = 4;

/** The recorded state after each event. */
function createRecord({ books, complain }: Parts) {
  /** Of payments, payouts and refunds, by token and event. */
  const onRecord = new Map<string, { status: string; amount: number; position: string }>();
  return {
    note: ({ stream, revision, position }: RecordedEvent): void => {
      const operation = books.find(stream.replace(/^(payment|payout)-/, ''));
      if (operation === undefined) return;
      const { token, kind, amount, approvedAmount, phase, refunds, disputes } = operation;
      onRecord.set(`${token} ${revision}`, {
        status: statuses[phase] ?? phase,
        // The requested amount, if nothing was taken.
        amount: kind === 'payment' && isTaken.has(phase) ? approvedAmount : amount,
        position,
      });
      for (const [refundToken, { state, amount: sum }] of refunds)
        onRecord.set(`${refundToken} ${revision}`, { status: state, amount: sum, position });
      for (const [disputeToken, { state, amount: sum }] of disputes)
        onRecord.set(`${disputeToken} ${revision}`, { status: state, amount: sum, position });
    },
    positionOf: ({ subject, sequence }: ReceivedWebhook): string =>
      onRecord.get(`${subject} ${sequence}`)?.position ?? '',
    requireTrue: ({ token, sequence, status, amount, line }: ReceivedWebhook): void => {
      const there = onRecord.get(`${token} ${sequence}`);
      if (there?.status !== status || there.amount !== amount)
        complain(
          'webhooks',
          `${line} says ${amount}, and on record it is ${there?.status} over ${there?.amount}`,
        );
    },
  };
}

/** Redelivery is allowed, including out of order; first deliveries follow the order of the events. */
function take(receiver: Receiver, webhook: ReceivedWebhook, { complain }: Pick<Parts, 'complain'>): void {
  const { url, received, latest } = receiver;
  const { subject, sequence, line } = webhook;
  const before = latest.get(subject) ?? -1;
  if (sequence < before && !received.has(line))
    complain('webhooks', `${url}: ${line} comes after event ${before}`);
  latest.set(subject, Math.max(before, sequence));
  received.set(line, webhook);
}

const createReceiver = (team: TeamName, url: string, since: string | undefined): Receiver => ({
  team,
  url,
  received: new Map(),
  latest: new Map(),
  since,
  streams: 'webhook-',
});

function readWebhook(text: string): ReceivedWebhook {
  const { token, paymentToken, type, status, sequence, amount } = JSON.parse(text) as ReceivedWebhook & {
    paymentToken?: string;
    type: string;
  };
  const subject = paymentToken ?? token;
  const line = `${type} ${token} ${status} of event ${sequence} of ${subject}`;
  return { token, subject, status, sequence, amount, line };
}

const isTaken = new Set(['approved', 'refunded']);

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
