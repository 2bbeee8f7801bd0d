/**
 * The store is lost, and a backup that is some minutes old takes its place, as docs/operator/operations.md says: teams stay out until somebody
 * has had the day compared. What was announced since is forgotten: it must be found out all the same, or named to a person.
 */
import type { CallerRequest, CallerWorld } from '../people/caller.ts';
import { askFor, dayOf } from './outage.ts';
import type { Random } from '../world/random.ts';
import { type TeamName, approver } from '../people/teams.ts';
import type { World } from '../world.ts';

interface Parts {
  accounts: readonly string[];
  callerOf: (random: Random) => CallerWorld;
}

export interface Restored {
  /** What is not done yet. */
  differences(): string[];
}

/** Makes it while everything goes on. @returns what puts it in place */
export function makeBackup(world: World, safetyMs: number): (parts: Parts) => Restored {
  const random = world.random.fork('backup');
  const { log, scheduler, trace } = world;
  let restore = log.backup();
  const make = (): void => {
    trace.tell('a backup is made');
    restore = log.backup();
  };
  scheduler.after(random.between(0.1, 1) * safetyMs, 'a backup is made', make);
  // What is only asked for in it, and done behind it.
  if (random.chance(0.5))
    log.onEvent(({ type }) => {
      if (type === 'PayoutApprovalRequested' && !world.isRestored()) make();
    });
  return (parts) => {
    putInPlace(world, restore);
    let isOver = false;
    void goOn(world, random, parts).then(() => (isOver = true));
    return { differences: () => (isOver ? [] : ['teams are not let in yet']) };
  };
}

function putInPlace(world: World, restore: () => void): void {
  const { trace, machines } = world;
  trace.tell('the store is lost, and the backup takes its place');
  world.saw('a backup was restored');
  for (const running of machines) {
    running.machine.crash();
    running.process = undefined;
  }
  restore();
  world.beginAnew();
  for (const running of machines) {
    running.machine.boot();
    world.boot(running);
  }
}

async function goOn(world: World, random: Random, { accounts, callerOf }: Parts): Promise<void> {
  const from = world.log.all().length;
  for (const account of accounts) await askFor(callerOf(random.fork(account)), account, dayOf(world));
  const caller = callerOf(random.fork('teams'));
  while (reportedSince(world, from) < accounts.length) await caller.sleep(5_000);
  for (const [token, request] of caller.waiting) await approveAgain(world, caller, token, request);
}

/** Runs that a person has asked for. */
const reportedSince = ({ log }: World, from: number): number =>
  log
    .all()
    .slice(from)
    .filter(
      ({ type, data }) => type === 'ReconciliationReported' && (data as { by?: string }).by === 'person',
    ).length;

/** A payout that waits for its approval once more may have been paid out. */
async function approveAgain(
  { books }: World,
  caller: CallerWorld,
  token: string,
  request: CallerRequest,
): Promise<void> {
  if (books.find(token)?.phase !== 'awaiting_approval' && books.find(token)?.phase !== 'approval_granted')
    return;
  const team = request.team as TeamName;
  caller.tell(`${team} approves ${token} once more`);
  caller.saw('a payout was approved once more after a restore');
  const approve = `/api/v1/payouts/${token}/approve`;
  await untilAnswered(caller, { team, person: approver, method: 'POST', url: approve, body: {} });
  await untilAnswered(caller, request);
}

async function untilAnswered(caller: CallerWorld, request: CallerRequest): Promise<void> {
  for (;;) {
    const answer = await caller.request(request);
    if (answer.kind === 'answer' && answer.statusCode < 500) return;
    await caller.sleep(5_000);
  }
}
