/**
 * Standing webhook endpoints: a team adds one, closes it for a while, has sent again what it missed, and changes its secret. In the end
 * it has received what its `callbackUrl` has of the events after it was added; and who keeps a secret as long as it overlaps can verify
 * everything meanwhile.
 */
import { createHmac } from 'node:crypto';
import type { RecordedEvent } from '@tollgate/event-store';
import type { CallerRequest, CallerWorld } from './caller.ts';
import { type TeamName, endpointUrlOf, teamNames } from './teams.ts';
import { type Inbox, type WebhookMessage, createInbox, readWebhook } from './webhooks.ts';
import type { World } from './world.ts';

interface TeamEndpoint {
  team: TeamName;
  inbox: Inbox;
  /** Those that the team knows, the latest last. */
  secrets: string[];
  /** A former secret may have ended before the team knew the one after it. */
  mayRefuse: boolean;
  /** A webhook came that no known secret has signed. */
  isPuzzled: boolean;
  /** How often each was refused for that: after a few times the next try is hours away. */
  refused: Map<string, number>;
  /** The position of the event that added it; undefined before. */
  since: string | undefined;
}

/** Of one webhook: then it is not waited for. */
const refusalsMax = 2;

export interface WebhookEndpoints {
  of(team: TeamName): TeamEndpoint;
  onRecorded(event: RecordedEvent): void;
  /** What the receiver of an endpoint answers; undefined where the URL is none. */
  receive(message: WebhookMessage): number | undefined;
  /** What has come to one of the two and not to the other, though it should have. */
  differences(): string[];
}

export function createWebhookEndpoints({
  books,
  webhooks,
  complain,
  saw,
  faults,
}: Pick<World, 'books' | 'webhooks' | 'complain' | 'saw' | 'faults'>): WebhookEndpoints {
  const endpoints = teamNames.map((team): TeamEndpoint => ({
    ...{ team, inbox: createInbox(`the endpoint of ${team}`, complain), secrets: [] },
    ...{ mayRefuse: false, isPuzzled: false, refused: new Map(), since: undefined },
  }));
  const replays = createReplayCheck({ complain, saw });
  /** Of events of payments and payouts, by token and number. */
  const positions = new Map<string, string>();

  function differencesAt({ team, inbox, refused, since }: TeamEndpoint): string[] {
    if (since === undefined) return [];
    const toCallbackUrl = new Set(
      [...webhooks.all()]
        .filter(({ subject }) => books.find(subject)?.team === team)
        .filter(({ subject, sequence }) => (positions.get(`${subject} ${sequence}`) ?? '') > since)
        .map(({ line }) => line),
    );
    const toEndpoint = new Set([...inbox.all()].map(({ line }) => line));
    return [
      ...[...toCallbackUrl.difference(toEndpoint)]
        .filter((line) => (refused.get(line) ?? 0) < refusalsMax)
        .map((line) => `the endpoint of ${team} was not sent: ${line}`),
      ...[...toEndpoint.difference(toCallbackUrl)].map(
        (line) => `only the endpoint of ${team} was sent: ${line}`,
      ),
    ];
  }

  return {
    of: (team) => endpoints.find((each) => each.team === team) as TeamEndpoint,
    onRecorded: (event) => {
      const { stream, revision, type, data, position } = event;
      replays(event);
      const [, token] = /^(?:payment|payout)-(.*)$/.exec(stream) ?? [];
      if (token !== undefined) positions.set(`${token} ${revision}`, position);
      if (type !== 'EndpointAdded') return;
      const added = endpoints.find(({ team }) => endpointUrlOf(team) === (data as { url: string }).url);
      if (added === undefined) return;
      if (added.since !== undefined) complain('webhooks', `the endpoint of ${added.team} was added twice`);
      added.since = position;
    },
    receive: (message) => {
      const endpoint = endpoints.find(({ team }) => endpointUrlOf(team) === message.url);
      if (endpoint === undefined) return undefined;
      const { team, inbox, secrets, mayRefuse } = endpoint;
      if (secrets.some((secret) => isSignedWith(secret, message))) {
        saw('a webhook to an endpoint');
        inbox.take(message.body);
        return 200;
      }
      // Over days an overlap ends, too.
      if (secrets.length > 0 && !mayRefuse && !faults.counts().has('outage-of-days'))
        complain('webhooks', `${team} has kept its secret, and cannot verify a webhook with it`);
      endpoint.isPuzzled = secrets.length > 0;
      const { line } = readWebhook(message.body);
      endpoint.refused.set(line, (endpoint.refused.get(line) ?? 0) + 1);
      return 401;
    },
    differences: () => endpoints.flatMap(differencesAt),
  };
}

/** What nobody has asked for again is sent again only where it was given up without an attempt, and once. */
function createReplayCheck({ complain, saw }: Pick<World, 'complain' | 'saw'>) {
  const histories = new Map<string, { type: string; id: string; nextAt?: number }[]>();
  return ({ stream, type, data, metadata }: RecordedEvent): void => {
    if (!stream.startsWith('webhook-we_')) return;
    const own = histories.get(stream) ?? [];
    const { id, nextAt } = data as { id: string; nextAt?: number };
    const { actor } = metadata as { actor?: { name?: string } };
    if (type === 'ReplayRequested' && actor?.name === 'notifier') {
      const at = own.findLastIndex((each) => each.id === id);
      const before = own[at - 1];
      const wasTried = before?.id === id && before.type === 'DeliveryFailed' && before.nextAt === undefined;
      if (own[at]?.type !== 'DeliveryGivenUp' || wasTried)
        complain('webhooks', `${id} of ${stream} is sent again, and nobody has asked for it`);
      else saw('what was given up behind the enabling was sent');
    }
    own.push({ type, id, ...(nextAt === undefined ? {} : { nextAt }) });
    histories.set(stream, own);
  };
}

/** As Standard Webhooks 1.0 says; not by the library that signs. */
function isSignedWith(secret: string, { headers, body }: WebhookMessage): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signed = `${headers['webhook-id'] ?? ''}.${headers['webhook-timestamp'] ?? ''}.${body}`;
  const signature = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  return headers['webhook-signature']?.split(' ').includes(signature) === true;
}

/** How often a team looks whether its receiver can verify what comes, milliseconds. */
const watchEveryMs = 60_000;
/** Before somebody asks again, milliseconds, while nothing runs for days. */
const outagePauseMs = 600_000;

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
  const endpoint = world.endpoints.of(team);
  const insist = insisting(world, caller, team);
  await sleep(random.between(0, 120_000));
  tell(`${team} adds an endpoint`);
  const added = await insist('POST', '', { url: endpointUrlOf(team) });
  if (typeof added['secret'] === 'string') endpoint.secrets.push(added['secret']);
  else saw('an endpoint was added, and its secret lost');
  const id = await idOf(insist, added);
  if (endpoint.secrets.length === 0) await rotate(caller, insist, endpoint, { id, overlapHours: 0 });
  // From then on a process follows what is sent there.
  for (let count = 0; count < 2; count += 1) await insist('GET', `/${id}/deliveries`);
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
      await look(caller, insist, endpoint, id);
    }
  };
}

/** Half of the time until something happens: then it is opened again just as a webhook is due. */
function untilSomething({ log }: World, { random, sleep }: CallerWorld): Promise<void> {
  const longest = sleep(random.between(1_000, 120_000));
  if (random.chance(0.5)) return longest;
  const happened = new Promise<void>((resolve) => {
    const awaited = random.pick([/^(payment|payout)-/, /^webhook-we_/, /^webhook-we_/]);
    const forget = log.onEvent(({ stream }) => {
      if (!awaited.test(stream)) return;
      forget();
      resolve();
    });
  });
  const after = random.between(0, random.pick([20, 100, 2_000]));
  return Promise.race([happened.then(() => sleep(after)), longest]);
}

/**
 * A request that was given up, and asked for again, may be carried out after all: then the endpoint is closed, or the team has an older
 * secret. Somebody sees it.
 */
async function look(caller: CallerWorld, insist: Insist, endpoint: TeamEndpoint, id: string): Promise<void> {
  if (endpoint.isPuzzled) await rotate(caller, insist, endpoint, { id, overlapHours: 24 });
  endpoint.isPuzzled = false;
  const { endpoints } = (await insist('GET', '')) as { endpoints: { status: string }[] };
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
        ...{ team, method, url: `/api/v1/webhook-endpoints${path}` },
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
      await sleep(world.isOutage() ? outagePauseMs / world.pace : random.between(500, 8_000));
    }
  };

async function idOf(insist: Insist, added: Record<string, unknown>): Promise<string> {
  const { endpoint } = added as { endpoint?: { id: string } };
  if (endpoint !== undefined) return endpoint.id;
  const { endpoints } = (await insist('GET', '')) as { endpoints: { id: string }[] };
  return endpoints[0]?.id ?? '';
}

async function rotate(
  { sleep, random }: CallerWorld,
  insist: Insist,
  endpoint: TeamEndpoint,
  { id, overlapHours }: { id: string; overlapHours: number },
): Promise<void> {
  endpoint.mayRefuse ||= overlapHours === 0;
  const rotated = await insist('POST', `/${id}/rotate-secret`, { overlapHours });
  // Its receivers are given the new one when somebody comes to it: that is what the overlap is for.
  if (overlapHours > 0) await sleep(random.between(0, 90_000));
  endpoint.secrets.push(String(rotated['secret']));
}

/** What is given up meanwhile is sent again once it is open: nobody else does it. */
async function close(
  insist: Insist,
  endpoint: TeamEndpoint,
  { id, pause }: { id: string; pause: () => Promise<void> },
): Promise<void> {
  endpoint.inbox.expectAnyOrder();
  await insist('PATCH', `/${id}`, { status: 'disabled' });
  await pause();
  await open(insist, endpoint, id);
}

async function open(insist: Insist, { inbox }: TeamEndpoint, id: string): Promise<void> {
  inbox.expectAnyOrder();
  await insist('PATCH', `/${id}`, { status: 'enabled' });
  let cursor: unknown;
  do {
    const replayed = await insist('POST', `/${id}/replay`, { ...(cursor === undefined ? {} : { cursor }) });
    cursor = replayed['nextCursor'];
  } while (cursor !== undefined);
}
