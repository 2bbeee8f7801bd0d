/**
 * What the teams' receivers are sent: it is what was on record, it comes in order and signed, and in the end every address of a team has
 * everything. Nothing is checked once an earlier store has taken the place of the store.
 */
import { createHmac } from 'node:crypto';
import type { RecordedEvent } from '@tollgate/event-store';
import type { WebhookClient } from '@tollgate/webhooks';
import { type TeamName, endpointUrlOf, teamNames, webhookUrlOf } from '../people/teams.ts';
import type { World } from '../world.ts';
import { type OperationOnRecord, isFinal } from './books.ts';

type WebhookMessage = Parameters<WebhookClient['post']>[0];

/** An address of a team: the `callbackUrl` of its payments and payouts, or its standing endpoint. */
export interface Receiver {
  team: TeamName;
  url: string;
  /** By what each says, once. */
  received: Map<string, ReceivedWebhook>;
  /** The latest event of each payment and payout. */
  latest: Map<string, number>;
  /** False once something was sent again on request, perhaps after later ones. */
  isOrdered: boolean;
  /** The position from which it is sent everything; undefined before it was added. */
  since: string | undefined;
  /** What the names of its streams begin with. */
  streams: string;
  /** Those that the team knows, the latest last; undefined for a `callbackUrl`, which is not verified here. */
  secrets: string[] | undefined;
  /** A former secret may have ended before the team knew the one after it. */
  mayRefuse: boolean;
  /** A webhook came that no known secret has signed. */
  isPuzzled: boolean;
  /** How often each was refused for that: after a few times the next try is hours away. */
  refused: Map<string, number>;
}

interface ReceivedWebhook {
  token: string;
  /** The payment or payout whose event it reports: of a refund, its payment. */
  subject: string;
  /** The number of the event. */
  sequence: number;
  status: string;
  /** Minor units. */
  amount: number;
  line: string;
}

/** Of one webhook: then it is not waited for. */
const refusalsMax = 2;

export type WebhookChecks = ReturnType<typeof createWebhookChecks>;

type Parts = Pick<World, 'books' | 'complain' | 'saw' | 'faults' | 'isRestored'>;

export function createWebhookChecks(parts: Parts) {
  const { books, complain, saw, isRestored } = parts;
  const receivers = teamNames.flatMap((team) => [
    createReceiver(team, webhookUrlOf(team), '', undefined),
    createReceiver(team, endpointUrlOf(team), undefined, []),
  ]);
  const receiverAt = (url: string) => receivers.find((each) => each.url === url);
  const tries = createTries();
  const record = createRecord(parts);

  function noteEndpoint({ data, position }: RecordedEvent): void {
    const { url, id } = data as { url: string; id: string };
    const added = receiverAt(url);
    if (added === undefined) return;
    if (added.since !== undefined) complain('webhooks', `the endpoint of ${added.team} was added twice`);
    added.since = position;
    added.streams = `webhook-${id}.`;
  }

  /** What another address of the team has received, and this one should have. */
  function missingAt({ team, url, received, refused, since, streams }: Receiver): string[] {
    if (since === undefined) return [];
    return receivers
      .filter((each) => each.team === team)
      .flatMap((each) => [...each.received.values()])
      .filter(({ line }) => !received.has(line) && (refused.get(line) ?? 0) < refusalsMax)
      .filter((webhook) => record.positionOf(webhook) > since)
      .filter(({ subject }) => !tries.areUsedUp(`${streams}${subject}`))
      .map(({ line }) => `${url} was not sent: ${line}`);
  }

  function isReported({ token, team, phase }: OperationOnRecord): boolean {
    const status = phase === 'voided' || phase === 'failed' ? 'declined' : phase;
    const sent = [...(receiverAt(webhookUrlOf(team as TeamName))?.received.values() ?? [])];
    const isSent = sent.some((each) => each.token === token && each.status === status);
    return isSent || tries.areUsedUp(`webhook-${token}`);
  }

  return {
    endpointOf: (team: TeamName): Receiver => receiverAt(endpointUrlOf(team)) as Receiver,
    /** After the books have it. */
    onRecorded: (event: RecordedEvent): void => {
      if (isRestored()) return;
      record.note(event);
      if (event.stream.startsWith('webhook-')) tries.onRecorded(event);
      if (event.type === 'EndpointAdded') noteEndpoint(event);
    },
    /** @returns the status that the receiver answers */
    receive: (message: WebhookMessage): number => {
      const receiver = receiverAt(message.url);
      if (receiver === undefined || isRestored()) return 200;
      const webhook = readWebhook(message.body);
      record.requireTrue(webhook);
      if (receiver.secrets?.some((secret) => isSignedWith(secret, message)) === false) {
        refuse(receiver, webhook, parts);
        return 401;
      }
      saw(receiver.secrets === undefined ? 'webhook received' : 'a webhook to an endpoint');
      take(receiver, webhook, parts);
      return 200;
    },
    /** What should have come to an address and has not. */
    differences: (): string[] => [
      ...receivers.flatMap(missingAt),
      ...books
        .all()
        .filter((each) => isFinal(each) && !each.isAdopted && !isReported(each))
        .map(({ token, phase }) => `no webhook has reported to the team that ${token} is ${phase}`),
    ],
  };
}

/** What each event left on record. */
function createRecord({ books, complain }: Parts) {
  /** Of payments, payouts and refunds, by token and event. */
  const onRecord = new Map<string, { status: string; amount: number }>();
  /** Of events of payments and payouts, by token and number. */
  const positions = new Map<string, string>();
  return {
    note: ({ stream, revision, position }: RecordedEvent): void => {
      const operation = books.find(stream.replace(/^(payment|payout)-/, ''));
      if (operation === undefined) return;
      const { token, kind, amount, approvedAmount, phase, refunds } = operation;
      positions.set(`${token} ${revision}`, position);
      onRecord.set(`${token} ${revision}`, {
        status: statuses[phase] ?? phase,
        // Where nothing is taken, what was asked for.
        amount: kind === 'payment' && isTaken.has(phase) ? approvedAmount : amount,
      });
      for (const [refundToken, { state, amount: sum }] of refunds)
        onRecord.set(`${refundToken} ${revision}`, { status: state, amount: sum });
    },
    positionOf: ({ subject, sequence }: ReceivedWebhook): string =>
      positions.get(`${subject} ${sequence}`) ?? '',
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

/** It may come again, also after later ones; what comes for the first time comes in the order of the events. */
function take(receiver: Receiver, webhook: ReceivedWebhook, { complain }: Pick<Parts, 'complain'>): void {
  const { url, received, latest, isOrdered } = receiver;
  const { subject, sequence, line } = webhook;
  const before = latest.get(subject) ?? -1;
  if (isOrdered && sequence < before && !received.has(line))
    complain('webhooks', `${url}: ${line} comes after event ${before}`);
  latest.set(subject, Math.max(before, sequence));
  received.set(line, webhook);
}

function refuse(receiver: Receiver, { line }: ReceivedWebhook, { complain, faults }: Parts): void {
  const { team, secrets = [], mayRefuse, refused } = receiver;
  // Over days an overlap ends, too.
  if (secrets.length > 0 && !mayRefuse && !faults.counts().has('outage-of-days'))
    complain('webhooks', `${team} has kept its secret, and cannot verify a webhook with it`);
  receiver.isPuzzled = secrets.length > 0;
  refused.set(line, (refused.get(line) ?? 0) + 1);
}

function createReceiver(
  team: TeamName,
  url: string,
  since: string | undefined,
  secrets: string[] | undefined,
): Receiver {
  return {
    team,
    url,
    received: new Map(),
    latest: new Map(),
    isOrdered: true,
    since,
    streams: 'webhook-',
    secrets,
    mayRefuse: false,
    isPuzzled: false,
    refused: new Map(),
  };
}

function readWebhook(text: string): ReceivedWebhook {
  const { token, paymentToken, type, status, sequence, amount } = JSON.parse(text) as ReceivedWebhook & {
    paymentToken?: string;
    type: string;
  };
  const subject = paymentToken ?? token;
  const line = `${type} ${token} ${status} of event ${sequence} of ${subject}`;
  return { token, subject, status, sequence, amount, line };
}

/** After so many failures the pause is two hours and more. */
const failuresMany = 4;

interface Tried {
  failures: number;
  /** When the next was due. */
  nextAt: number;
  /** One was made before it was due: another process had begun it as well. */
  isTwofold: boolean;
}

/**
 * While processes share the webhooks by different numbers, two may try the same one at once, and each try counts: after a minute of
 * failures the next is hours away.
 */
function createTries() {
  const byStream = new Map<string, Map<string, Tried>>();
  return {
    onRecorded: ({ stream, type, data }: RecordedEvent): void => {
      const { id, at, nextAt } = data as { id: string; at: number; nextAt?: number };
      const own = byStream.get(stream) ?? new Map<string, Tried>();
      byStream.set(stream, own);
      if (type !== 'DeliveryFailed') own.delete(id);
      if (type !== 'DeliveryFailed' || nextAt === undefined) return;
      const before = own.get(id);
      own.set(id, {
        failures: (before?.failures ?? 0) + 1,
        nextAt,
        isTwofold: before !== undefined && (before.isTwofold || at < before.nextAt),
      });
    },
    /** Whether what the stream still has to send comes later than anybody waits for here. */
    areUsedUp: (stream: string): boolean =>
      [...(byStream.get(stream)?.values() ?? [])].some(
        ({ failures, isTwofold }) => isTwofold && failures >= failuresMany,
      ),
  };
}

/** As Standard Webhooks 1.0 says; not by the library that signs. */
function isSignedWith(secret: string, { headers, body }: WebhookMessage): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signed = `${headers['webhook-id'] ?? ''}.${headers['webhook-timestamp'] ?? ''}.${body}`;
  const signature = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  return headers['webhook-signature']?.split(' ').includes(signature) === true;
}

const isTaken = new Set(['approved', 'refunded']);

/** Of phases that are shown under another name. */
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
