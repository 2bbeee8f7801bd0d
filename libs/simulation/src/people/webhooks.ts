/** The teams' receivers of webhooks: what has come to each address, and what should have. */
import type { WebhookClient } from '@tollgate/webhooks';
import { isFinal } from '../checks/books.ts';
import type { Life } from '../world/machine.ts';
import { requireNoSecret } from '../checks/secrets.ts';
import type { World } from '../world.ts';

export type WebhookMessage = Parameters<WebhookClient['post']>[0];

/** What has come to one address. */
export interface Inbox {
  take(body: string): void;
  /** The statuses of a payment or payout itself that were told. */
  statusesOf(token: string): ReadonlySet<string>;
  /** Each webhook once. */
  all(): Iterable<ReceivedWebhook>;
  /** What was given up is sent again, perhaps behind later ones. */
  expectAnyOrder(): void;
}

export interface ReceivedWebhook {
  /** The token of the payment or payout whose event it tells. */
  subject: string;
  /** The number of the event. */
  sequence: number;
  /** What it tells. */
  line: string;
}

interface WebhookBody {
  token: string;
  /** Of a refund: its payment. */
  paymentToken?: string;
  type: string;
  status: string;
  sequence: number;
  /** Minor units. */
  amount: number;
}

/** What it tells, and of which payment or payout. */
export function readWebhook(text: string) {
  const {
    token,
    paymentToken: subject = token,
    type,
    status,
    sequence,
    amount,
  } = JSON.parse(text) as WebhookBody;
  return {
    token,
    subject,
    status,
    sequence,
    amount,
    line: `${type} ${token} ${status} of event ${sequence} of ${subject}`,
  };
}

/** A webhook may come again, also after later ones; what comes for the first time comes in the order of the events. */
export function createInbox(name: string, complain: World['complain']): Inbox {
  const statuses = new Map<string, Set<string>>();
  const latest = new Map<string, number>();
  const all = new Map<string, ReceivedWebhook>();
  let isOrdered = true;
  return {
    take: (text) => {
      const { token, subject, status, sequence, line } = readWebhook(text);
      const before = latest.get(subject) ?? -1;
      if (isOrdered && sequence < before && !all.has(line))
        complain('webhooks', `${name}: ${line} comes behind event ${before}`);
      latest.set(subject, Math.max(before, sequence));
      all.set(line, { subject, sequence, line });
      if (token === subject) statuses.set(token, (statuses.get(token) ?? new Set()).add(status));
    },
    statusesOf: (token) => statuses.get(token) ?? new Set(),
    all: () => all.values(),
    expectAnyOrder: () => void (isOrdered = false),
  };
}

export function createWebhookReceivers(world: World): (life: Life) => WebhookClient {
  const { faults, scheduler, partitions } = world;
  return (life) => ({
    post: (message, signal) =>
      new Promise((resolve, reject) => {
        const { random } = life;
        const machine = life.name.replace(/\d+$/, '');
        const isRefused = partitions.isCut(machine, 'receivers') || faults.strikes('webhook-refused', random);
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        scheduler.after(random.between(5, 60), `webhook to ${message.url}`, () => {
          const statusCode = isRefused ? 500 : receive(world, message);
          life.deliver(random.between(5, 60), 'webhook answered', () =>
            partitions.isCut('receivers', machine)
              ? reject(new Error('The answer of the receiver is lost.'))
              : resolve(statusCode),
          );
        });
      }),
    close: async () => undefined,
  });
}

function receive(world: World, message: WebhookMessage): number {
  const { webhooks, endpoints, checks, saw, complain, isRestored } = world;
  requireNoSecret('a webhook', message.body, complain);
  if (isRestored()) return 200;
  checks.webhooks.requireTrue(message.body);
  const atEndpoint = endpoints.receive(message);
  if (atEndpoint !== undefined) return atEndpoint;
  saw('webhook received');
  webhooks.take(message.body);
  return 200;
}

/** Final statuses that no webhook has reported to the team. */
export const missingWebhooks = ({
  books,
  webhooks,
  endpoints,
}: Pick<World, 'books' | 'webhooks' | 'endpoints'>): string[] =>
  books.all().flatMap((operation) => {
    const { token, phase, isAdopted } = operation;
    const status = phase === 'voided' || phase === 'failed' ? 'declined' : phase;
    const isReported = isAdopted || !isFinal(operation) || webhooks.statusesOf(token).has(status);
    return isReported || endpoints.areTriesUsedUp(token)
      ? []
      : [`no webhook has reported to the team that ${token} is ${status}`];
  });
