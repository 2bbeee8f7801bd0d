/** The way of a webhook to a receiver of a team and back: receivers fail, and answers are lost. */
import type { WebhookClient } from '@tollgate/webhooks';
import type { Life } from '../world/machine.ts';
import { requireNoSecret } from '../checks/secrets.ts';
import type { World } from '../world.ts';

export function createWebhookReceivers(world: World): (life: Life) => WebhookClient {
  const { faults, scheduler, partitions, webhooks, complain } = world;
  return (life) => ({
    post: (message, signal) =>
      new Promise((resolve, reject) => {
        const { random } = life;
        const machine = life.name.replace(/\d+$/, '');
        const isRefused = partitions.isCut(machine, 'receivers') || faults.strikes('webhook-refused', random);
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        scheduler.after(random.between(5, 60), `webhook to ${message.url}`, () => {
          requireNoSecret('a webhook', message.body, complain);
          const statusCode = isRefused ? 500 : webhooks.receive(message);
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
