/** The teams' receivers of webhooks. */
import type { WebhookClient } from '@tollgate/notifier';
import { isFinal } from './books.ts';
import type { Life } from './machine.ts';
import type { World } from './world.ts';

export function createWebhookReceivers(world: World): (life: Life) => WebhookClient {
  const { faults, scheduler, partitions } = world;
  return (life) => ({
    post: ({ url, body }, signal) =>
      new Promise((resolve, reject) => {
        const { random } = life;
        const machine = life.name.replace(/\d+$/, '');
        const isRefused = partitions.isCut(machine, 'receivers') || faults.strikes('webhook-refused', random);
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        scheduler.after(random.between(5, 60), `webhook to ${url}`, () => {
          if (!isRefused) world.saw('webhook received');
          if (!isRefused) receive(world, JSON.parse(body) as WebhookBody);
          life.deliver(random.between(5, 60), 'webhook answered', () =>
            partitions.isCut('receivers', machine)
              ? reject(new Error('The answer of the receiver is lost.'))
              : resolve(isRefused ? 500 : 200),
          );
        });
      }),
    close: async () => undefined,
  });
}

interface WebhookBody {
  token: string;
  /** Of a refund: its payment. */
  paymentToken?: string;
  status: string;
  /** The number of the event that it tells. */
  sequence: number;
}

/** A webhook may come again, also after later ones; what comes for the first time comes in the order of the events. */
function receive(
  { webhooks, complain }: World,
  { token, paymentToken = token, status, sequence }: WebhookBody,
): void {
  const { statuses, sequences } = webhooks.get(paymentToken) ?? { statuses: new Set(), sequences: new Set() };
  const latest = Math.max(-1, ...sequences);
  if (sequence < latest && !sequences.has(sequence))
    complain(
      'webhooks',
      `the webhook of event ${sequence} of ${paymentToken} comes behind that of event ${latest}`,
    );
  webhooks.set(paymentToken, {
    statuses: token === paymentToken ? statuses.add(status) : statuses,
    sequences: sequences.add(sequence),
  });
}

/** Final statuses that no webhook has reported to the team. */
export const missingWebhooks = ({ books, webhooks }: Pick<World, 'books' | 'webhooks'>): string[] =>
  books.all().flatMap((operation) => {
    const { token, phase } = operation;
    const status = phase === 'voided' ? 'declined' : phase;
    const isReported =
      !isFinal(operation) || phase === 'failed' || webhooks.get(token)?.statuses.has(status) === true;
    return isReported ? [] : [`no webhook has reported to the team that ${token} is ${status}`];
  });
