/**
 * Operators who pause, drain and resume merchant accounts; outcomes of sent calls must still be found. Others change wallets,
 * limits and approvals, and transfer money, under load.
 */
import { type CallerOf, insist, isSuccess, post } from './front-door.ts';
import { accounts, teamNames } from './teams.ts';

/** Delay after the last fault; longer than a machine is suspended. @unit milliseconds */
const lookedAtAfterMs = 120_000;

/** Half of the seeds have an operator. Ends with every account resumed. */
export function beginOperators(callerOf: CallerOf): void {
  const caller = callerOf('operators');
  const { random, sleep, saw, isOpen } = caller;
  if (!random.chance(0.5)) return;

  /** Resolves with the process that answered; undefined if none did, although one may have received the request. */
  async function ask(account: string, change: string): Promise<string | undefined> {
    const url = `admin/accounts/sandbox/${account}/${change}`;
    const answer = await caller.request(post('operator', url, { reason: 'Maintenance.' }));
    if (isSuccess(answer)) return answer.by;
    if (change !== 'pause') caller.checks.paused.onOtherUnanswered(account);
    return undefined;
  }

  async function resume(account: string): Promise<void> {
    caller.checks.paused.onResuming(account);
    while ((await ask(account, 'resume')) === undefined) await sleep(random.between(1_000, 8_000));
  }

  async function close(account: string, change: 'pause' | 'drain'): Promise<void> {
    caller.trace.log(`an operator asks to ${change} ${account}`);
    const by = await ask(account, change);
    if (by !== undefined) saw(`an account was closed: ${change}`);
    if (by !== undefined && change === 'pause') caller.checks.paused.onPaused(account, by);
    await sleep(random.pick([5_000, 60_000, 240_000]) * random.between(0.5, 1.5));
    await resume(account);
  }

  async function work(): Promise<void> {
    await sleep(random.between(5_000, 120_000));
    while (isOpen()) {
      await close(random.pick(accounts), random.pick(['pause', 'pause', 'drain']));
      await sleep(random.between(10_000, 240_000));
    }
    // A request held by a suspended machine may take effect after its successor. An operator notices, and resumes the account.
    await sleep(lookedAtAfterMs / caller.pace);
    for (const account of accounts) await resume(account);
  }

  void work();
}

const wallets = [...teamNames.map((team) => `team-${team}`), 'wallet-both'];

/** Runs in six of ten seeds. */
export function beginRuleChanges(callerOf: CallerOf): void {
  const caller = callerOf('rules');
  const { random, sleep, rules, trace, saw } = caller;
  if (!random.chance(0.6)) return;

  async function transfer(number: number): Promise<void> {
    const from = random.pick(wallets);
    const body = {
      environment: 'sandbox',
      account: random.pick(accounts),
      currency: 'EUR',
      amount: random.whole(1, 20) * 10,
      from,
      to: random.pick(wallets.filter((each) => each !== from)),
      reason: 'The books of the group.',
    };
    const answer = await insist(caller, post('operator', 'admin/transfers', body, `transfer-${number}`));
    if (isSuccess(answer)) saw('money was transferred');
  }

  async function work(): Promise<void> {
    for (let number = 1; caller.isOpen(); number += 1) {
      await sleep(random.between(10_000, 120_000));
      trace.log(rules.change(random.pick(teamNames), random));
      saw('the rules of a team were changed');
      if (random.chance(0.5)) await transfer(number);
    }
  }

  void work();
}
