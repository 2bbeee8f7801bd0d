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
          const { token, status } = JSON.parse(body) as { token?: string; status?: string };
          if (!isRefused && token !== undefined && status !== undefined)
            world.webhooks.set(token, (world.webhooks.get(token) ?? new Set()).add(status));
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

/** Final statuses that no webhook has reported to the team. */
export const missingWebhooks = ({ books, webhooks }: Pick<World, 'books' | 'webhooks'>): string[] =>
  books.all().flatMap((operation) => {
    const { token, phase } = operation;
    const status = phase === 'voided' ? 'declined' : phase;
    const isReported = !isFinal(operation) || phase === 'failed' || webhooks.get(token)?.has(status) === true;
    return isReported ? [] : [`no webhook has reported to the team that ${token} is ${status}`];
  });
