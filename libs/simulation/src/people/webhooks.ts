/** Receivers of webhooks, which fail and whose answers are lost. A team adds a standing endpoint, and closes it for a while. */
import type { WebhookClient } from '@tollgate/webhooks';
import type { Receiver } from '../checks/webhooks.ts';
import { requireNoSecret } from '../checks/secrets.ts';
import type { Life } from '../world/machine.ts';
import type { World } from '../world.ts';
import type { Caller, CallerOf, CallerRequest } from './caller.ts';
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
              : resolve(isRefused ? 500 : 200),
          );
        });
      }),
    close: async () => undefined,
  });
}

/** How often a team looks whether its endpoint is open, milliseconds. */
const watchEveryMs = 60_000;

/** Under four of ten seeds the teams have an endpoint each. */
export function beginEndpoints(world: World, callerOf: CallerOf): { differences(): string[] } {
  if (!world.random.fork('webhook endpoints').chance(0.4)) return { differences: () => [] };
  let underWay: number = teamNames.length;
  for (const team of teamNames) void live(callerOf(`endpoint of ${team}`), team, () => (underWay -= 1));
  return { differences: () => (underWay === 0 ? [] : ['a team waits for an answer about its endpoint']) };
}

async function live(caller: Caller, team: TeamName, onIdle: () => void): Promise<void> {
  const { random, sleep, saw } = caller;
  const { tell } = caller.trace;
  const endpoint = caller.webhooks.endpointOf(team);
  const insist = insisting(caller, team);
  await sleep(random.between(0, 120_000));
  tell(`${team} adds an endpoint`);
  await insist('POST', '/webhook-endpoints', { url: endpointUrlOf(team) });
  const list = async () =>
    ((await insist('GET', '/webhook-endpoints')) as { endpoints: { id: string; status: string }[] })
      .endpoints[0];
  const { id = '' } = (await list()) ?? {};
  for (let count = random.whole(0, 2); count > 0; count -= 1) {
    await sleep(random.between(1_000, 120_000));
    tell(`${team} closes its endpoint for a while`);
    endpoint.isOrdered = false;
    await insist('PATCH', `/webhook-endpoints/${id}`, { status: 'disabled' });
    await sleep(random.between(1_000, 120_000));
    await open(insist, endpoint, id);
    saw('an endpoint was closed for a while');
  }
  onIdle();
  // A request that was given up may be carried out after all, and closes it again.
  for (;;) {
    await sleep(watchEveryMs / caller.pace);
    if ((await list())?.status === 'disabled') await open(insist, endpoint, id);
  }
}

type Insist = (
  method: CallerRequest['method'],
  path: string,
  body?: object,
) => Promise<Record<string, unknown>>;

/** Asks until there is an answer that is no failure: it lasts while nothing fails any more. */
const insisting =
  ({ request, sleep, random, complain }: Caller, team: TeamName): Insist =>
  async (method, path, body) => {
    for (;;) {
      const answer = await request({ team, method, url: `/api/v1${path}`, body });
      if (answer.kind === 'answer' && answer.statusCode < 500 && answer.statusCode !== 429) {
        const text = JSON.stringify(answer.body);
        if (answer.statusCode >= 400 && !/webhook_endpoint_(exists|disabled)/.test(text))
          complain('webhooks', `${method} ${path} is refused: ${text}`);
        return answer.body;
      }
      await sleep(random.between(500, 8_000));
    }
  };

/** What was not sent while it was closed is sent on request only. */
async function open(insist: Insist, endpoint: Receiver, id: string): Promise<void> {
  endpoint.isOrdered = false;
  await insist('PATCH', `/webhook-endpoints/${id}`, { status: 'enabled' });
  let cursor: unknown;
  do {
    const answer = await insist('POST', '/webhooks/replay', { endpoint: id, cursor });
    // An older request to close it came late, and has closed it again: it is opened at the next look.
    if (answer['replayed'] === undefined) return;
    cursor = answer['nextCursor'];
  } while (cursor !== undefined);
}
