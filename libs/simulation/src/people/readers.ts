/**
 * What teams read: a payment never goes back, and the feed of a team has every event of it, once and in order, whichever
 * process answers.
 */
import type { RecordedEvent } from '@tollgate/event-store';
import type { Answer, CallerWorld } from './caller.ts';
import { type TeamName, teamNames } from './teams.ts';
import type { World } from '../world.ts';

/** How often it reads some times in a row, at the moment when something is recorded of it. */
const roundsMax = 6;

/** What was shown of a payment. */
interface Shown {
  revision: number;
  position: string;
}

/** Reads a payment of the team again and again; now and then wants to see at least what it has seen. */
export async function watch(world: CallerWorld, team: TeamName, token: string): Promise<void> {
  const { random } = world;
  const shownBy = new Map<string, number>();
  let latest: Shown | undefined;
  for (let round = 0; round < roundsMax && world.isOpen(); round += 1) {
    await world.untilRecorded(token, random.between(1_000, 20_000));
    for (let count = random.whole(2, 6); count > 0; count -= 1) {
      const least = random.chance(0.5) ? latest : undefined;
      const shown = await readOnce(world, { team, token, least, shownBy });
      if (shown !== undefined && shown.revision >= (latest?.revision ?? 0)) latest = shown;
      await world.sleep(random.between(0, 150));
    }
  }
}

interface Reading {
  team: TeamName;
  token: string;
  /** It wants no less than this. */
  least: Shown | undefined;
  /** What each process has shown. */
  shownBy: Map<string, number>;
}

async function readOnce(
  { request, complain, saw }: CallerWorld,
  { team, token, least, shownBy }: Reading,
): Promise<Shown | undefined> {
  const answer = await request({
    team,
    method: 'GET',
    url: `/api/v1/payments/${token}`,
    ...(least === undefined ? {} : { minPosition: least.position }),
  });
  if (answer.kind === 'lost') return undefined;
  const { by, statusCode } = answer;
  if (statusCode === 400) complain('reads', `${token}: the position of an earlier answer is refused`);
  const shown = shownIn(answer);
  if (shown === undefined) return undefined;
  const { revision } = shown;
  const say = (wanted: number) =>
    complain('reads', `${by} shows ${token} as of event ${revision}, and event ${wanted} was shown before`);
  const before = shownBy.get(by) ?? 0;
  if (revision < before) say(before);
  if (least !== undefined && revision < least.revision) say(least.revision);
  if (least !== undefined) saw('read at least what was read before');
  shownBy.set(by, revision);
  return shown;
}

function shownIn(answer: Answer): Shown | undefined {
  if (answer.kind === 'lost' || answer.statusCode !== 200 || answer.position === undefined) return undefined;
  const { revision } = answer.body['payment'] as { revision: number };
  return { revision, position: answer.position };
}

/** Of one team. */
interface FeedReader {
  team: TeamName;
  cursor: string;
  /** What it was given, in the order in which it was: the token and the number of each event. */
  given: { token: string; sequence: number }[];
}

export interface FeedReaders {
  /** Reads on until there is no more, and demands that it was everything. */
  finish(): Promise<void>;
}

const patienceMs = 600_000;

/** Under three of ten seeds the teams read their feeds all the time, and under two in the end only. */
export function beginFeedReaders(
  world: World,
  callerOf: (random: World['random']) => CallerWorld,
): FeedReaders {
  const { scheduler, complain } = world;
  const random = world.random.fork('feed readers');
  const share = random.fraction();
  if (share > 0.5) return { finish: async () => undefined };
  const readers = teamNames.map((team): { reader: FeedReader; caller: CallerWorld } => ({
    reader: { team, cursor: '', given: [] },
    caller: callerOf(random.fork(team)),
  }));
  let [isFinishing, atEnd] = [false, 0];

  async function read({ reader, caller }: (typeof readers)[number]): Promise<void> {
    while (!isFinishing) {
      await caller.sleep(caller.random.between(1_000, 60_000));
      await readPage(caller, reader);
    }
    // What hurries in a short world is its people, and not what they wait for.
    while (!(await readPage(caller, reader))) await caller.sleep(1_000 / world.pace);
    atEnd += 1;
  }

  const begin = (): void => {
    for (const each of readers)
      read(each).catch((error: unknown) => complain('simulation', `a feed cannot be read: ${String(error)}`));
  };
  const isLate = share > 0.3;
  if (!isLate) begin();
  return {
    async finish() {
      isFinishing = true;
      // What is recorded while it is read may be behind what a page had.
      const recorded = world.log.all().slice();
      if (isLate) begin();
      await scheduler.runUntil(scheduler.now() + patienceMs, () => atEnd === readers.length);
      if (atEnd < readers.length) complain('feed', 'a feed does not come to its end in time');
      else for (const { reader } of readers) requireWhole(world, recorded, reader);
    },
  };
}

/** @returns true where there was no more by then */
async function readPage(caller: CallerWorld, reader: FeedReader): Promise<boolean> {
  const { team, cursor } = reader;
  const url = `/api/v1/events?perPage=${caller.random.whole(1, 20)}&cursor=${cursor}`;
  const answer = await caller.request({ team, method: 'GET', url });
  if (answer.kind === 'lost') return false;
  if (answer.statusCode === 400) caller.complain('feed', `${team} is refused its cursor ${cursor}`);
  if (answer.statusCode !== 200) return false;
  const page = answer.body as { events: FedEvent[]; cursor: string; isAtEnd: boolean };
  for (const { record, cursor: next } of page.events) {
    if (next <= reader.cursor) caller.complain('feed', `${team} is given ${next} behind ${reader.cursor}`);
    reader.cursor = next;
    reader.given.push({
      token: (record.payment ?? record.payout ?? record.dispute)?.token ?? '',
      sequence: record.event.sequence,
    });
  }
  if (page.events.length > 0) caller.saw('a page of a feed');
  return page.isAtEnd;
}

interface FedEvent {
  cursor: string;
  record: {
    event: { sequence: number };
    payment?: { token: string };
    payout?: { token: string };
    dispute?: { token: string };
  };
}

function requireWhole(
  { books, checks, complain }: World,
  recorded: readonly RecordedEvent[],
  { team, given }: FeedReader,
): void {
  const disputes = checks.disputes.ofTeam(team);
  // What was recorded of a dispute before anybody knew whose it is, nobody is given.
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
