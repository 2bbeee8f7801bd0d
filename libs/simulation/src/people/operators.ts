/** Operators who pause and drain merchant accounts, and resume them: what has been sent must be found out all the same. */
import type { CallerWorld } from './caller.ts';
import type { Random } from '../world/random.ts';
import type { World } from '../world.ts';

/** After everything that failed, milliseconds: longer than a machine is suspended. */
const lookedAtAfterMs = 120_000;

/** Under half of the seeds somebody is there. Ends with every account resumed. */
export function beginOperators(
  world: Pick<World, 'random' | 'checks' | 'pace'>,
  accounts: readonly string[],
  callerOf: (random: Random) => CallerWorld,
): void {
  const random = world.random.fork('operators');
  if (!random.chance(0.5)) return;
  const caller = callerOf(random);
  const { sleep, tell, saw, isOpen } = caller;

  /** Resolves with which process has answered; undefined where none has, though one may have heard of it. */
  async function ask(account: string, change: string): Promise<string | undefined> {
    const answer = await caller.request({
      team: 'operator',
      method: 'POST',
      url: `/api/v1/admin/accounts/sandbox/${account}/${change}`,
      body: { reason: 'Maintenance.' },
    });
    if (answer.kind === 'answer' && answer.statusCode === 200) return answer.by;
    if (change !== 'pause') world.checks.paused.onOtherUnanswered(account);
    return undefined;
  }

  async function resume(account: string): Promise<void> {
    world.checks.paused.onResuming(account);
    while ((await ask(account, 'resume')) === undefined) await sleep(random.between(1_000, 8_000));
  }

  async function close(account: string, change: 'pause' | 'drain'): Promise<void> {
    tell(`an operator asks to ${change} ${account}`);
    const by = await ask(account, change);
    if (by !== undefined) saw(`an account was closed: ${change}`);
    if (by !== undefined && change === 'pause') world.checks.paused.onPaused(account, by);
    await sleep(random.pick([5_000, 60_000, 240_000]) * random.between(0.5, 1.5));
    await resume(account);
  }

  async function work(): Promise<void> {
    await sleep(random.between(5_000, 120_000));
    while (isOpen()) {
      await close(random.pick(accounts), random.pick(['pause', 'pause', 'drain']));
      await sleep(random.between(10_000, 240_000));
    }
    // A request that a suspended machine has held may take effect after the one that followed it: somebody sees it, and resumes.
    await sleep(lookedAtAfterMs / world.pace);
    for (const account of accounts) await resume(account);
  }

  void work();
}
