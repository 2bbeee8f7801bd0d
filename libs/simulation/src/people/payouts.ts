/**
 * The teams' payouts: to a bank account, or to a customer whose recurring token they have. Above a threshold a second key
 * decides.
 */
import { bankAccount } from '../checks/secrets.ts';
import { type Caller, type Known, codesOf, insist, insistAtOnce, isSuccess, post } from './caller.ts';
import { type TeamName, approver, teamNames, webhookUrlOf } from './teams.ts';

const payoutsMax = 6;

/** Repeats the request under a new key while the team's balance is too low. */
export async function payoutStory(caller: Caller, number: number): Promise<void> {
  const { random } = caller;
  const team = random.pick(teamNames);
  const amount = random.whole(1, 20) * 10;
  for (let count = 1; count <= payoutsMax && caller.isOpen(); count += 1) {
    const codes = await payOut(caller, team, amount, `payout-${number}.${count}`);
    if (!codes.includes('payout_exceeds_balance')) return;
    await caller.sleep(random.between(10_000, 90_000));
  }
}

/** @returns the error codes of the refusal */
export async function payOut(
  caller: Caller,
  team: TeamName,
  amount: number,
  orderNumber: string,
  destination: object = { bankAccount: { bankName: 'A bank', account: bankAccount } },
): Promise<readonly string[]> {
  const body = { amount, currency: 'EUR', orderNumber, callbackUrl: webhookUrlOf(team), destination };
  const request = post(team, 'payouts', body, orderNumber);
  caller.trace.tell(`${team} pays out ${amount} (${orderNumber})`);
  const known: Known = { token: undefined };
  const answers = await insistAtOnce(caller, request, known);
  const { token } = known;
  if (token === undefined) return answers.flatMap((answer) => codesOf(answer?.body));
  if (answers.some((answer) => isAwaiting(answer?.body))) {
    await decideBySecondKey(caller, team, token);
    // An approved payout is sent when its request is repeated.
    await insistAtOnce(caller, request, known);
  }
  caller.saw('paid out');
  return [];
}

const isAwaiting = ({ payout }: Record<string, unknown> = {}): boolean =>
  (payout as { phase?: string } | undefined)?.phase === 'awaiting_approval';

async function decideBySecondKey(caller: Caller, team: TeamName, token: string): Promise<void> {
  const { random } = caller;
  await caller.sleep(random.between(500, 20_000));
  const approve = post(team, `payouts/${token}/approve`, {});
  if (random.chance(0.3) && isSuccess(await caller.request(approve)))
    caller.complain('approval', `${token} is approved by the key that asked for it`);
  const isApproved = random.chance(0.6);
  const refuse = post(team, `payouts/${token}/refuse`, { reason: 'Not ours.' });
  const answer = await insist(caller, { ...(isApproved ? approve : refuse), person: approver });
  if (isSuccess(answer))
    caller.saw(isApproved ? 'a payout was approved' : 'a payout was refused by a second key');
}
