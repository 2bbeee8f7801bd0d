/** Webhook receivers, which fail and lose answers. A team adds an endpoint. */
import type { WebhookClient } from '@tollgate/webhooks';
import { requireNoSecret } from '../checks/secrets.ts';
import type { Life } from '../world/machine.ts';
import type { World } from '../world.ts';
import { type Caller, type CallerOf, codesOf, post } from './caller.ts';
import { type TeamName, endpointUrlOf, teamNames } from './teams.ts';

export function createWebhookReceivers(world: World): (life: Life) => WebhookClient {
  const { faults, scheduler, partitions, webhooks, complain } = world;
  return (life) => ({
    post: (message, signal) =>
      new Promise((resolve, reject) => {
        const { random, machine } = life;
        const isRefused = partitions.isCut(machine, 'receivers') || faults.strikes('webhook-refused', random);
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        scheduler.after(random.between(5, 60), `webhook to ${message.url}`, () => {
          requireNoSecret('a webhook', message.body, complain);
          if (!isRefused) webhooks.receive(message);
          life.deliver(random.between(5, 60), 'webhook answered', () =>
            partitions.isCut('receivers', machine)
              ? reject(new Error('The answer of the receiver is lost.'))
              : resolve({ statusCode: isRefused ? 500 : 200, body: isRefused ? 'refused' : '' }),
          );
        });
      }),
    close: async () => undefined,
  });
}

/** In four of ten seeds each team has an endpoint. */
export function beginEndpoints(world: World, callerOf: CallerOf): { differences(): string[] } {
  const isOn = world.random.fork('webhook endpoints').chance(0.4);
  const callers = isOn ? teamNames.map((team) => ({ team, caller: callerOf(`endpoint of ${team}`) })) : [];
  let underWay = callers.length;
  for (const { team, caller } of callers) void addEndpoint(caller, team).then(() => (underWay -= 1));
  return { differences: () => (underWay === 0 ? [] : ['a team waits for an answer about its endpoint']) };
}

/** Repeats the request until the endpoint exists. */
async function addEndpoint(caller: Caller, team: TeamName): Promise<void> {
  const { random, sleep, trace, complain } = caller;
  await sleep(random.between(0, 120_000));
  trace.tell(`${team} adds an endpoint`);
  for (;;) {
    const answer = await caller.request(post(team, 'webhook-endpoints', { url: endpointUrlOf(team) }));
    const { statusCode, body = {} } = answer.kind === 'answer' ? answer : { statusCode: 503 };
    if (statusCode < 300 || codesOf(body).includes('webhook_endpoint_exists')) return;
    if (statusCode < 500 && statusCode !== 429)
      complain('webhooks', `the endpoint of ${team} is refused: ${JSON.stringify(body)}`);
    await sleep(random.between(500, 8_000));
  }
}
