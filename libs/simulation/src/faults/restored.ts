/**
 * The store is lost, and a backup that is some minutes old takes its place, as docs/operator/operations.md says: teams stay out until somebody
 * has had the day compared. What was announced since is forgotten: it must be found out all the same, or named to a person.
 */
import { type CallerRequest, type CallerWorld, codesOf } from '../people/caller.ts';
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
  /** How much longer it takes since somebody waits until approvals lapse. */
  waitedMs(): number;
}

/**
 * Makes it while everything goes on; a certain one just as a payout has begun to wait for its approval.
 * @returns what puts it in place
 */
export function makeBackup(
  world: World,
  safetyMs: number,
  isBehindApproval: boolean,
): (parts: Parts) => Restored {
  const random = world.random.fork('backup');
  const { log, scheduler, trace } = world;
  let restore = log.backup();
  let hasAwaited = false;
  const make = (): void => {
    trace.tell('a backup is made');
    restore = log.backup();
  };
  scheduler.after(random.between(0.1, 1) * safetyMs, 'a backup is made', () => {
    if (!(isBehindApproval && hasAwaited)) make();
  });
  // What is only asked for in it, and done behind it.
  if (random.chance(0.5) || isBehindApproval)
    log.onEvent(({ type }) => {
      if (type !== 'PayoutApprovalRequested' || world.isRestored()) return;
      hasAwaited = true;
      make();
    });
  return (parts) => {
    putInPlace(world, restore);
    const state = { isOver: false, waitedMs: 0 };
    void goOn(world, random, parts, state).then(() => (state.isOver = true));
    return {
      differences: () => (state.isOver ? [] : ['teams are not let in yet']),
      waitedMs: () => state.waitedMs,
    };
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

async function goOn(
  world: World,
  random: Random,
  { accounts, callerOf }: Parts,
  state: { waitedMs: number },
): Promise<void> {
  const from = world.log.all().length;
  for (const account of accounts) await askFor(callerOf(random.fork(account)), account, dayOf(world));
  const caller = callerOf(random.fork('teams'));
  while (reportedSince(world, from) < accounts.length) await caller.sleep(5_000);
  const isWaiting = (token: string) =>
    ['awaiting_approval', 'approval_granted'].includes(world.books.find(token)?.phase ?? '');
  const waiting = [...caller.waiting].filter(([token]) => isWaiting(token));
  // A day takes as long to simulate as a hundred seeds.
  if (waiting.length > 0 && random.chance(world.faults.losesApprovals ? 0.05 : 0.25)) {
    state.waitedMs = approvalsLastMs;
    await new Promise<void>(
      (resolve) => void world.scheduler.after(state.waitedMs, 'approvals lapse', resolve),
    );
  }
  for (const [token, request] of waiting) await decideAgain(world, caller, token, request);
}

/** As long as approvals last: what waited before has lapsed, and no inquiry about what is final has come since. */
const approvalsLastMs = 24 * 3_600_000;

/** Runs that a person has asked for. */
const reportedSince = ({ log }: World, from: number): number =>
  log
    .all()
    .slice(from)
    .filter(
      ({ type, data }) => type === 'ReconciliationReported' && (data as { by?: string }).by === 'person',
    ).length;

/** A payout that waits for its approval once more may have been paid out: then its team is not told that nothing was sent. */
async function decideAgain(
  { ledger, complain }: World,
  caller: CallerWorld,
  token: string,
  request: CallerRequest,
): Promise<void> {
  const team = request.team as TeamName;
  const decision = caller.random.chance(0.75) ? 'approve' : 'refuse';
  caller.tell(`${team} decides ${token} once more: ${decision}`);
  caller.saw(`a payout was decided once more after a restore: ${decision}`);
  const body = decision === 'approve' ? {} : { reason: 'Paid already.' };
  const url = `/api/v1/payouts/${token}/${decision}`;
  await untilAnswered(caller, { team, person: approver, method: 'POST', url, body });
  const codes = codesOf((await untilAnswered(caller, request)).body);
  const isPaid = ledger.payouts.some(
    ({ orderNumber, status }) => orderNumber.startsWith(`${token}.`) && status === 'approved',
  );
  if (isPaid && codes.some((code) => sayNothingSent.includes(code)))
    complain('I10', `${token} is paid out, and its team is told: ${codes.join()}`);
}

const sayNothingSent = ['payout_approval_lapsed', 'payout_approval_refused'];

async function untilAnswered(caller: CallerWorld, request: CallerRequest) {
  for (;;) {
    const answer = await caller.request(request);
    if (answer.kind === 'answer' && answer.statusCode < 500) return answer;
    await caller.sleep(5_000);
  }
}
