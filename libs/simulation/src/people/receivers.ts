/** Reads and receipts of the teams: single payments, and webhooks, which fail. */
import type { WebhookClient } from '@tollgate/webhooks';
import { requireNoSecret } from '../checks/secrets.ts';
import type { World } from '../world.ts';
import type { Life } from '../world/machine.ts';
import { type Caller, type CallerOf, codesOf, isSuccess, post } from './front-door.ts';
import { type TeamName, endpointUrlOf, teamNames } from './teams.ts';

/** Maximum number of bursts of reads. A burst starts when an event of the payment is recorded. */
const roundsMax = 6;

/** Reads a payment; half of the reads require at least the last position read. The front door checks the answers. */
export async function watch(caller: Caller, team: TeamName, token: string): Promise<void> {
  const { random } = caller;
  let latest: string | undefined;
  for (let round = 0; round < roundsMax && caller.isOpen(); round += 1) {
    await caller.untilRecorded(token, random.between(1_000, 20_000));
    for (let count = random.whole(2, 6); count > 0; count -= 1) {
      const minPosition = random.chance(0.5) ? latest : undefined;
      const url = `/api/v1/payments/${token}`;
      const answer = await caller.request({ team, method: 'GET', url, minPosition });
      if (answer.kind === 'answer' && answer.statusCode === 400)
        caller.complain('reads', `${token}: the position of an earlier answer is refused`);
      if (isSuccess(answer) && minPosition !== undefined) caller.saw('read at least what was read before');
      if (isSuccess(answer) && (answer.position ?? '') > (latest ?? '')) latest = answer.position;
      await caller.sleep(random.between(0, 150));
    }
  }
}

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
  trace.log(`${team} adds an endpoint`);
  for (;;) {
    const answer = await caller.request(post(team, 'webhook-endpoints', { url: endpointUrlOf(team) }));
    const { statusCode, body = {} } = answer.kind === 'answer' ? answer : { statusCode: 503 };
    if (statusCode < 300 || codesOf(body).includes('webhook_endpoint_exists')) return;
    if (statusCode < 500 && statusCode !== 429)
      complain('webhooks', `the endpoint of ${team} is refused: ${JSON.stringify(body)}`);
    await sleep(random.between(500, 8_000));
  }
}
