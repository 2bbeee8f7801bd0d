/** The teams' payouts: to a bank account, or to a customer whose recurring token they have; above a sum a second key decides. */
import { type CallerWorld, type Known, codesOf, insist, post } from './caller.ts';
import { bankAccount } from '../checks/secrets.ts';
import { type TeamName, approver, teamNames, webhookUrlOf } from './teams.ts';

/** Asks again, under another key, while the team has not taken enough yet. */
export async function payoutStory(world: CallerWorld, number: number): Promise<void> {
  const { random } = world;
  const team = random.pick(teamNames);
  const amount = random.whole(1, 20) * 10;
  for (let count = 1; count <= payoutsMax && world.isOpen(); count += 1) {
    const codes = await payOut(world, team, amount, `payout-${number}.${count}`);
    if (!codes.includes('payout_exceeds_position')) return;
    await world.sleep(random.between(10_000, 90_000));
  }
}

const payoutsMax = 3;

/** @returns the codes with which it was refused */
export async function payOut(
  world: CallerWorld,
  team: TeamName,
  amount: number,
  orderNumber: string,
  destination: object = { bankAccount: { bankName: 'A bank', account: bankAccount } },
): Promise<readonly string[]> {
  const body = {
    amount,
    currency: 'EUR',
    orderNumber,
    callbackUrl: webhookUrlOf(team),
    destination,
  };
  const request = post(team, 'payouts', body, orderNumber);
  world.tell(`${team} pays out ${amount} (${orderNumber})`);
  const known: Known = { token: undefined };
  const tries = world.random.chance(0.3) ? 2 : 1;
  const answers = await Promise.all(Array.from({ length: tries }, () => insist(world, request, known)));
  const { token } = known;
  if (token === undefined) return answers.flatMap((answer) => codesOf(answer?.body));
  if (answers.some((answer) => isAwaiting(answer?.body))) {
    world.waiting.set(token, request);
    await decideBySecondKey(world, team, token);
    // What was approved is sent by a repeat.
    await Promise.all(Array.from({ length: tries }, () => insist(world, request, known)));
  }
  world.saw('paid out');
  return [];
}

const isAwaiting = ({ payout }: Record<string, unknown> = {}): boolean =>
  (payout as { phase?: string } | undefined)?.phase === 'awaiting_approval';

async function decideBySecondKey(world: CallerWorld, team: TeamName, token: string): Promise<void> {
  const { random } = world;
  await world.sleep(random.between(500, 20_000));
  const approve = post(team, `payouts/${token}/approve`, {});
  if (random.chance(0.3)) {
    const own = await world.request(approve);
    if (own.kind === 'answer' && own.statusCode < 300)
      world.complain('approval', `${token} is approved by the key that asked for it`);
  }
  const isApproved = random.chance(0.6);
  const refuse = post(team, `payouts/${token}/refuse`, { reason: 'Not ours.' });
  const answer = await insist(
    world,
    { ...(isApproved ? approve : refuse), person: approver },
    { token: undefined },
  );
  if (answer !== undefined && answer.statusCode < 300)
    world.saw(isApproved ? 'a payout was approved' : 'a payout was refused by a second key');
}
