/** Reads and receipts of the teams: single payments, feeds with every event once and in order, and webhooks, which fail. */
import type { RecordedEvent } from '@tollgate/event-store';
import type { WebhookClient } from '@tollgate/webhooks';
import { requireNoSecret } from '../checks/secrets.ts';
import type { World } from '../world.ts';
import type { Life } from '../world/machine.ts';
import { type Caller, type CallerOf, codesOf, isConclusive, isSuccess, post } from './front-door.ts';
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
      if (answer.statusCode === 400)
        caller.complain('reads', `${token}: the position of an earlier answer is refused`);
      if (isSuccess(answer) && minPosition !== undefined) caller.saw('read at least what was read before');
      if (isSuccess(answer) && (answer.position ?? '') > (latest ?? '')) latest = answer.position;
      await caller.sleep(random.between(0, 150));
    }
  }
}

/** The feed reader of one team. */
const createFeedReader = (team: TeamName, caller: Caller) => ({
  team,
  caller,
  cursor: '',
  /** Of each received event, in order. */
  given: [] as { token: string; sequence: number }[],
});
type FeedReader = ReturnType<typeof createFeedReader>;

const patienceMs = 600_000;

/** In three of ten seeds the teams read their feeds all the time, and in two only at the end. */
export function beginFeedReaders(world: World, callerOf: CallerOf) {
  const { scheduler } = world;
  const share = world.random.fork('feed readers').fraction();
  if (share > 0.5) return { finish: async () => undefined };
  const readers = teamNames.map((team) => createFeedReader(team, callerOf(`feed of ${team}`)));
  let [isFinishing, atEnd] = [false, 0];

  async function read(reader: FeedReader): Promise<void> {
    const { random, sleep } = reader.caller;
    while (!isFinishing) {
      await sleep(random.between(1_000, 60_000));
      await readPage(reader);
    }
    // A short world speeds up its people, not the processes they wait for.
    while (!(await readPage(reader))) await sleep(1_000 / world.pace);
    atEnd += 1;
  }

  const begin = (): void => readers.forEach((each) => void read(each));
  const isLate = share > 0.3;
  if (!isLate) begin();
  return {
    /** Reads to the end of the feed and requires that no event is missing. */
    async finish() {
      isFinishing = true;
      // Events recorded during the reading may be missing from the pages.
      const recorded = world.log.all().slice();
      if (isLate) begin();
      await scheduler.runUntil(scheduler.now() + patienceMs, () => atEnd === readers.length);
      if (atEnd < readers.length) world.complain('feed', 'a feed does not come to its end in time');
      else for (const each of readers) requireWhole(recorded, each);
    },
  };
}

interface FedEvent {
  cursor: string;
  record: Partial<Record<'payment' | 'payout' | 'dispute', { token: string }>> & {
    event: { sequence: number };
  };
}

/** @returns true if the end of the feed was reached */
async function readPage(reader: FeedReader): Promise<boolean> {
  const { team, caller, cursor } = reader;
  const url = `/api/v1/events?perPage=${caller.random.whole(1, 20)}&cursor=${cursor}`;
  const answer = await caller.request({ team, method: 'GET', url });
  if (answer.statusCode === 400) caller.complain('feed', `${team} is refused its cursor ${cursor}`);
  if (answer.statusCode !== 200) return false;
  const page = answer.body as { events: FedEvent[]; isAtEnd: boolean };
  for (const { record, cursor: next } of page.events) {
    if (next <= reader.cursor) caller.complain('feed', `${team} is given ${next} after ${reader.cursor}`);
    reader.cursor = next;
    const { token = '' } = record.payment ?? record.payout ?? record.dispute ?? {};
    reader.given.push({ token, sequence: record.event.sequence });
  }
  if (page.events.length > 0) caller.saw('a page of a feed');
  return page.isAtEnd;
}

function requireWhole(recorded: readonly RecordedEvent[], { team, given, caller }: FeedReader): void {
  const { books, checks, complain } = caller;
  const disputes = checks.disputes.ofTeam(team);
  // Events of a dispute from before its team was known are not in the feed.
  const nextOf = new Map(disputes.map(({ token, ownedFrom = 0 }) => [token, ownedFrom]));
  for (const { token, sequence } of given) {
    const next = nextOf.get(token) ?? 0;
    if (sequence !== next)
      complain('feed', `${team} is given event ${sequence} of ${token}, where ${next} is next`);
    nextOf.set(token, sequence + 1);
    if (books.find(token)?.team !== team && !disputes.some((each) => each.token === token))
      complain('I14', `${team} is given an event of ${token}`);
  }
  const owned = [
    ...books.all().filter((each) => each.team === team),
    ...disputes.map(({ token }) => ({ token, kind: 'dispute' })),
  ];
  for (const { token, kind } of owned) {
    const count = recorded.filter(({ stream }) => stream === `${kind}-${token}`).length;
    if ((nextOf.get(token) ?? 0) < count)
      complain('feed', `${team} is given ${nextOf.get(token) ?? 0} of ${count} events of ${token}`);
  }
}

export function createWebhookClient(world: World, { random, machine, deliver }: Life): WebhookClient {
  const { faults, scheduler, partitions, complain } = world;
  return {
    post: (message, signal) =>
      new Promise((resolve, reject) => {
        const isRefused = partitions.isCut(machine, 'receivers') || faults.strikes('webhook-refused', random);
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        scheduler.after(random.between(5, 60), `webhook to ${message.url}`, () => {
          requireNoSecret('a webhook', message.body, complain);
          if (!isRefused) world.checks.webhooks.receive(message);
          deliver(random.between(5, 60), 'webhook answered', () =>
            partitions.isCut('receivers', machine)
              ? reject(new Error('The answer of the receiver is lost.'))
              : resolve({ statusCode: isRefused ? 500 : 200, body: isRefused ? 'refused' : '' }),
          );
        });
      }),
    close: async () => undefined,
  };
}

/** In four of ten seeds each team has an endpoint. */
export function beginEndpoints(world: World, callerOf: CallerOf): void {
  if (!world.random.fork('webhook endpoints').chance(0.4)) return;
  for (const team of teamNames) {
    const what = `endpoint of ${team}`;
    world.begin(what, addEndpoint(callerOf(what), team));
  }
}

/** Repeats the request until the endpoint exists. */
async function addEndpoint(caller: Caller, team: TeamName): Promise<void> {
  const { random, sleep, trace, complain } = caller;
  await sleep(random.between(0, 120_000));
  trace.log(`${team} adds an endpoint`);
  for (;;) {
    const answer = await caller.request(post(team, 'webhook-endpoints', { url: endpointUrlOf(team) }));
    const { body } = answer;
    if (isSuccess(answer) || codesOf(body).includes('webhook_endpoint_exists')) return;
    if (isConclusive(answer))
      complain('webhooks', `the endpoint of ${team} is refused: ${JSON.stringify(body)}`);
    await sleep(random.between(500, 8_000));
  }
}
