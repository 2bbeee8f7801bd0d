/** Customers who come back: a payment yields a recurring token, and its team charges it again, or pays out to it; another one tries to. */
import { type CallerWorld, insist, post } from './caller.ts';
import { payOut } from './payouts.ts';
import { type TeamName, teamNames, webhookUrlOf } from './teams.ts';

/** How often a team reads its payment before it gives up on a token. */
const readsMax = 6;

/** Resolves with the payment that it has created, if any. */
export async function chargeAgain(
  world: CallerWorld,
  team: TeamName,
  token: string,
  number: number,
): Promise<string | undefined> {
  const { random } = world;
  const recurringToken = await recurringTokenOf(world, team, token);
  if (recurringToken === undefined) return undefined;
  const amount = random.whole(1, 20) * 50;
  const chargeBy = (by: TeamName, orderNumber: string) => {
    const terms = { product: 'Tea', amount, currency: 'EUR', orderNumber, callbackUrl: webhookUrlOf(by) };
    return post(by, 'payments', { ...terms, recurringToken }, orderNumber);
  };
  if (random.chance(0.3)) await stealBy(world, chargeBy, team, number);
  world.tell(`${team} charges the customer of ${token} once more, ${amount}`);
  const tries = random.chance(0.3) ? 2 : 1;
  const request = chargeBy(team, `charge-${number}`);
  const known = { token: undefined };
  await Promise.all(Array.from({ length: tries }, () => insist(world, request, known)));
  world.saw('a recurring token was charged');
  if (random.chance(0.3)) await payOut(world, team, 10, `reward-${number}`, { recurringToken });
  return known.token;
}

async function recurringTokenOf(
  { random, request, sleep }: CallerWorld,
  team: TeamName,
  token: string,
): Promise<string | undefined> {
  for (let count = 0; count < readsMax; count += 1) {
    await sleep(random.between(1_000, 30_000));
    const answer = await request({ team, method: 'GET', url: `/api/v1/payments/${token}` });
    const { payment } = (answer.kind === 'answer' ? answer.body : {}) as { payment?: Shown };
    if (payment?.recurringToken !== undefined) return payment.recurringToken;
  }
  return undefined;
}

interface Shown {
  recurringToken?: string;
}

/** I14: another team has read it somewhere. */
async function stealBy(
  world: CallerWorld,
  chargeBy: (team: TeamName, orderNumber: string) => Parameters<CallerWorld['request']>[0],
  owner: TeamName,
  number: number,
): Promise<void> {
  for (const thief of teamNames.filter((name) => name !== owner)) {
    const answer = await world.request(chargeBy(thief, `stolen-${number}`));
    if (answer.kind === 'answer' && answer.statusCode < 300)
      world.complain('I14', `${thief} charges a recurring token of ${owner}`);
    world.saw("another team's recurring token was tried");
  }
}
