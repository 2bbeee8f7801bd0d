/** Standing webhook endpoints: a team adds one, closes it for a while, has sent again what it missed, and changes its secret. */
import type { CallerRequest, CallerWorld } from './caller.ts';
import { type TeamName, endpointUrlOf, teamNames } from './teams.ts';
import type { Receiver } from '../checks/webhooks.ts';
import type { World } from '../world.ts';

/** How often a team looks whether its receiver can verify what comes, milliseconds. */
const watchEveryMs = 60_000;

/** Under four of ten seeds the teams have an endpoint each. */
export function beginEndpoints(
  world: World,
  callerOf: (random: World['random']) => CallerWorld,
): { isIdle(): boolean } {
  const random = world.random.fork('webhook endpoints');
  if (!random.chance(0.4)) return { isIdle: () => true };
  let underWay = 0;
  for (const team of teamNames) {
    const caller = callerOf(random.fork(team));
    underWay += 1;
    live(world, caller, team)
      .then((keepWatch) => {
        underWay -= 1;
        return keepWatch();
      })
      .catch((error: unknown) => world.complain('simulation', `the endpoint of ${team}: ${String(error)}`));
  }
  return { isIdle: () => underWay === 0 };
}

/** @returns what goes on for as long as the endpoint is there */
async function live(world: World, caller: CallerWorld, team: TeamName): Promise<() => Promise<void>> {
  const { random, sleep, tell, saw } = caller;
  const endpoint = world.webhooks.endpointOf(team);
  const { secrets = [] } = endpoint;
  const insist = insisting(world, caller, team);
  await sleep(random.between(0, 120_000));
  tell(`${team} adds an endpoint`);
  const added = await insist('POST', '/webhook-endpoints', { url: endpointUrlOf(team) });
  if (typeof added['secret'] === 'string') secrets.push(added['secret']);
  else saw('an endpoint was added, and its secret lost');
  const id = await idOf(insist, added);
  if (secrets.length === 0) await rotate(caller, insist, endpoint, { id, overlapHours: 0 });
  // From then on a process follows what is sent there.
  for (let count = 0; count < 2; count += 1) await insist('GET', `/webhooks?endpoint=${id}`);
  for (let count = random.whole(0, 2); count > 0; count -= 1) {
    await sleep(random.between(1_000, 120_000));
    if (random.chance(0.5)) {
      tell(`${team} rotates the secret of its endpoint`);
      await rotate(caller, insist, endpoint, { id, overlapHours: random.pick([0, 24]) });
      saw('a secret of an endpoint was rotated');
    } else {
      tell(`${team} closes its endpoint for a while`);
      await close(insist, endpoint, { id, pause: () => untilSomething(world, caller) });
      saw('an endpoint was closed for a while');
    }
  }
  return async () => {
    for (;;) {
      await sleep(watchEveryMs / world.pace);
      await look(caller, insist, { endpoint, id });
    }
  };
}

/**
 * Half of the time until something happens: then it is opened again just as a webhook is due, and perhaps while a process stands still
 * that may have taken it up.
 */
async function untilSomething(
  { log, machines, faults }: World,
  { random, sleep, tell }: CallerWorld,
): Promise<void> {
  const longest = sleep(random.between(1_000, 120_000));
  if (random.chance(0.5)) {
    await longest;
    return;
  }
  const happened = new Promise<void>((resolve) => {
    const awaited = random.pick([/^(payment|payout)-/, /^webhook-we_/, /^webhook-we_/]);
    const forget = log.onEvent(({ stream }) => {
      if (!awaited.test(stream)) return;
      forget();
      resolve();
    });
  });
  const after = random.between(0, random.pick([20, 100, 2_000]));
  await Promise.race([happened.then(() => sleep(after)), longest]);
  if (!faults.strikes('pause-at-opening', random)) return;
  const { machine } = random.pick(machines);
  const durationMs = random.pick([2_000, 5_000, 10_000]);
  tell(`${machine.life().name} is stopped for ${durationMs} ms as an endpoint is opened`);
  machine.pause(durationMs);
}

/**
 * A request that was given up, and asked for again, may be carried out after all: then the endpoint is closed, or the team has an older
 * secret. Somebody sees it.
 */
async function look(
  caller: CallerWorld,
  insist: Insist,
  { endpoint, id }: { endpoint: Receiver; id: string },
): Promise<void> {
  if (endpoint.isPuzzled) await rotate(caller, insist, endpoint, { id, overlapHours: 24 });
  endpoint.isPuzzled = false;
  const { endpoints } = (await insist('GET', '/webhook-endpoints')) as { endpoints: { status: string }[] };
  if (endpoints[0]?.status === 'disabled') await open(insist, endpoint, id);
}

type Insist = (
  method: CallerRequest['method'],
  path: string,
  body?: object,
) => Promise<Record<string, unknown>>;

/** Asks until there is an answer that is no failure: it lasts while nothing fails any more. */
const insisting =
  (world: World, { request, sleep, random }: CallerWorld, team: TeamName): Insist =>
  async (method, path, body) => {
    const { complain } = world;
    for (;;) {
      const answer = await request({
        team,
        method,
        url: `/api/v1${path}`,
        ...(body === undefined ? {} : { body }),
      });
      if (answer.kind === 'answer' && answer.statusCode < 500 && answer.statusCode !== 429) {
        if (
          answer.statusCode >= 400 &&
          !/webhook_endpoint_(exists|disabled)/.test(JSON.stringify(answer.body))
        )
          complain('webhooks', `${method} ${path} is refused: ${JSON.stringify(answer.body)}`);
        return answer.body;
      }
      await sleep(random.between(500, 8_000));
    }
  };

async function idOf(insist: Insist, added: Record<string, unknown>): Promise<string> {
  const { endpoint } = added as { endpoint?: { id: string } };
  if (endpoint !== undefined) return endpoint.id;
  const { endpoints } = (await insist('GET', '/webhook-endpoints')) as { endpoints: { id: string }[] };
  return endpoints[0]?.id ?? '';
}

async function rotate(
  { sleep, random }: CallerWorld,
  insist: Insist,
  endpoint: Receiver,
  { id, overlapHours }: { id: string; overlapHours: number },
): Promise<void> {
  endpoint.mayRefuse ||= overlapHours === 0;
  const rotated = await insist('POST', `/webhook-endpoints/${id}/rotate-secret`, { overlapHours });
  // Its receivers are given the new one when somebody comes to it: that is what the overlap is for.
  if (overlapHours > 0) await sleep(random.between(0, 90_000));
  endpoint.secrets?.push(String(rotated['secret']));
}

/** What is given up meanwhile is sent again once it is open: nobody else does it. */
async function close(
  insist: Insist,
  endpoint: Receiver,
  { id, pause }: { id: string; pause: () => Promise<void> },
): Promise<void> {
  endpoint.isOrdered = false;
  await insist('PATCH', `/webhook-endpoints/${id}`, { status: 'disabled' });
  await pause();
  await open(insist, endpoint, id);
}

async function open(insist: Insist, endpoint: Receiver, id: string): Promise<void> {
  endpoint.isOrdered = false;
  await insist('PATCH', `/webhook-endpoints/${id}`, { status: 'enabled' });
  let cursor: unknown;
  do {
    const asked = { endpoint: id, ...(cursor === undefined ? {} : { cursor }) };
    const answer = await insist('POST', '/webhooks/replay', asked);
    // An older request to close it came late, and has closed it again (seed 49822): whoever looks next opens it.
    if (answer['replayed'] === undefined) return;
    cursor = answer['nextCursor'];
  } while (cursor !== undefined);
}
