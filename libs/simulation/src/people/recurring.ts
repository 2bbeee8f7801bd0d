/**
 * Returning customers: a payment yields a recurring token, and its team charges it again or pays out to it. Another team tries to
 * use it.
 */
import { type Caller, insistAtOnce, isSuccess, post } from './caller.ts';
import { payOut } from './payouts.ts';
import { type TeamName, teamNames, webhookUrlOf } from './teams.ts';

/** How often a team reads its payment before it stops waiting for a token. */
const readsMax = 6;

/** Resolves with the created payment, if any. */
export async function chargeAgain(
  caller: Caller,
  team: TeamName,
  token: string,
  number: number,
): Promise<string | undefined> {
  const { random } = caller;
  const recurringToken = await recurringTokenOf(caller, team, token);
  if (recurringToken === undefined) return undefined;
  const amount = random.whole(1, 20) * 50;
  const chargeBy = (by: TeamName, orderNumber: string) => {
    const callbackUrl = webhookUrlOf(by);
    const body = { product: 'Tea', amount, currency: 'EUR', orderNumber, callbackUrl, recurringToken };
    return post(by, 'payments', body, orderNumber);
  };
  // I14: another team has learned the token.
  for (const thief of teamNames.filter((name) => name !== team && random.chance(0.3))) {
    if (isSuccess(await caller.request(chargeBy(thief, `stolen-${number}`))))
      caller.complain('I14', `${thief} charges a recurring token of ${team}`);
    caller.saw("another team's recurring token was tried");
  }
  caller.trace.tell(`${team} charges the customer of ${token} once more, ${amount}`);
  const known = { token: undefined };
  await insistAtOnce(caller, chargeBy(team, `charge-${number}`), known);
  caller.saw('a recurring token was charged');
  if (random.chance(0.3)) await payOut(caller, team, 10, `reward-${number}`, { recurringToken });
  return known.token;
}

async function recurringTokenOf(
  { random, request, sleep }: Caller,
  team: TeamName,
  token: string,
): Promise<string | undefined> {
  for (let count = 0; count < readsMax; count += 1) {
    await sleep(random.between(1_000, 30_000));
    const answer = await request({ team, method: 'GET', url: `/api/v1/payments/${token}` });
    const { payment } = (isSuccess(answer) ? answer.body : {}) as { payment?: { recurringToken?: string } };
    if (payment?.recurringToken !== undefined) return payment.recurringToken;
  }
  return undefined;
}
