/** Teams that go through the list of their payments, page by page, whichever process answers each. */
import type { CallerWorld } from './caller.ts';
import { type TeamName, teamNames } from './teams.ts';
import type { World } from '../world.ts';

/** Pages that are asked for in vain before a team gives up: everything may be failing. */
const failuresMax = 20;

/** Under three of ten seeds, now and then. */
export function beginListReaders(world: World, callerOf: (random: World['random']) => CallerWorld): void {
  const random = world.random.fork('list readers');
  if (!random.chance(0.3)) return;
  const caller = callerOf(random);

  async function work(): Promise<void> {
    while (caller.isOpen()) {
      await caller.sleep(random.between(2_000, 60_000));
      await walk(world, caller, random.pick(teamNames));
    }
  }
  work().catch((error: unknown) => world.complain('simulation', `a list cannot be read: ${String(error)}`));
}

/** Each payment of the team that there was is in it once, no older than it was then; and nobody else's. */
async function walk(world: World, caller: CallerWorld, team: TeamName): Promise<void> {
  const { complain, books } = world;
  const { wanted, position } = recordedOf(world, team);
  const shown = await readAll(caller, team, position, (token) => {
    if (books.find(token)?.team !== team) complain('I14', `the list of ${team} has ${token}`);
  });
  if (shown === undefined) return;
  for (const [token, revision] of wanted) {
    const has = shown.get(token);
    if (has === undefined) complain('lists', `the list of ${team} lacks ${token}`);
    else if (has < revision)
      complain(
        'lists',
        `the list of ${team} has ${token} as of event ${has}, and event ${revision} was wanted`,
      );
  }
  if (wanted.size > 1) caller.saw('a list was read to its end');
}

/** The payments of a team by the number of their latest event, and the position up to which that goes. */
function recordedOf({ log, books }: World, team: TeamName) {
  const wanted = new Map<string, number>();
  let position = '';
  for (const event of log.all()) {
    if (!event.stream.startsWith('payment-')) continue;
    const token = event.stream.slice('payment-'.length);
    position = event.position;
    if (books.find(token)?.team === team) wanted.set(token, event.revision);
  }
  return { wanted, position };
}

interface Listed {
  payments: { token: string; revision: number }[];
  nextCursor?: string;
}

/** The number of the event as of which each is shown, by token; undefined where it could not be read to its end. */
async function readAll(
  { request, random, sleep, complain }: CallerWorld,
  team: TeamName,
  minPosition: string,
  onToken: (token: string) => void,
): Promise<ReadonlyMap<string, number> | undefined> {
  const shown = new Map<string, number>();
  const perPage = random.whole(1, 4);
  let [path, failures] = [`?perPage=${perPage}`, 0];
  for (;;) {
    const url = `/api/v1/payments${path}`;
    const answer = await request({
      team,
      method: 'GET',
      url,
      ...(minPosition === '' ? {} : { minPosition }),
    });
    if (answer.kind === 'answer' && answer.statusCode === 400) complain('lists', `${team} is refused ${url}`);
    if (answer.kind === 'lost' || answer.statusCode !== 200) {
      failures += 1;
      if (failures > failuresMax) return undefined;
      await sleep(random.between(200, 5_000));
      continue;
    }
    const { payments, nextCursor } = answer.body as unknown as Listed;
    for (const { token, revision } of payments) {
      if (shown.has(token)) complain('lists', `the list of ${team} has ${token} twice`);
      shown.set(token, revision);
      onToken(token);
    }
    if (nextCursor === undefined) return shown;
    path = `?perPage=${perPage}&cursor=${encodeURIComponent(nextCursor)}`;
    await sleep(random.between(0, 3_000));
  }
}
