/**
 * The teams' payments: created, repeated when unanswered, paid by customers, captured, voided, refunded in excess, and charged
 * again by a recurring token. Their payouts, which above a threshold a second key decides.
 */
import { bankAccount, cardNumber, emailOf } from '../checks/secrets.ts';
import { pageOf } from '../payment-service/api.ts';
import {
  type Caller,
  type CallerRequest,
  codesOf,
  insist,
  insistAtOnce,
  isSuccess,
  post,
  withRandom,
} from './front-door.ts';
import { watch } from './receivers.ts';
import { type TeamName, approver, teamNames, webhookUrlOf } from './teams.ts';

const storyKinds = ['hosted', 'hosted', 'card', 'two-step', 'two-step-card'] as const;
const card = { pan: cardNumber, expires: '12/2039', holder: 'Ada Lovelace', cvv: '737' };

/** A payment from its creation to its end. */
export async function paymentStory(caller: Caller, number: number): Promise<void> {
  const { random } = caller;
  const team = random.pick(teamNames);
  const amount = random.whole(2, 40) * 50;
  const kind = random.pick(storyKinds);
  const customer = random.fork('customer');
  const isRecurring = customer.chance(0.3);
  const email = emailOf(`order-${number}`);
  const body = {
    product: 'Tea',
    amount,
    currency: 'EUR',
    orderNumber: `order-${number}`,
    callbackUrl: webhookUrlOf(team),
    needConfirmation: kind.startsWith('two-step') || undefined,
    recurring: isRecurring || undefined,
    customer: email === undefined ? undefined : { email, ip: '203.0.113.7' },
    card: kind.endsWith('card') ? card : undefined,
  };
  const request = post(team, 'payments', body, `create-${number}`);
  caller.trace.log(`${team} creates payment ${number} (${kind}, ${amount})`);
  const { token, created } = await insistAtOnce(caller, request);
  if (token === undefined) return;
  const reader = withRandom(caller, random.fork('reader'));
  const watching = reader.random.chance(0.3) ? watch(reader, team, token) : undefined;
  if (random.chance(0.2) && caller.isOpen()) await reuseKey(caller, request, amount);
  const page = created['processingUrl'];
  if (typeof page === 'string') await payOn(caller, page);
  if (kind.startsWith('two-step')) await endTwoStep(caller, team, token);
  if (random.chance(0.3)) await spy(caller, team, token);
  if (random.chance(0.4)) await payOut(caller, team, Math.ceil(amount / 3), `payout-of-${number}`);
  if (isRecurring) {
    const own = withRandom(caller, customer);
    const charged = await chargeAgain(own, team, token, number);
    if (charged !== undefined) await refunds(own, team, { token: charged, amount: 50 });
  }
  await refunds(caller, team, { token, amount });
  await caller.sleep(random.between(500, 20_000));
  const own = await caller.request({ team, method: 'GET', url: `/api/v1/payments/${token}` });
  if (own.statusCode === 404) caller.complain('I5', `${token} was created for ${team} and is not found`);
  await watching;
}

/**
 * I10: other terms under the same key. Not after a restore: the restored store may not have the payment, so this would create a
 * new one.
 */
async function reuseKey(caller: Caller, { team, body, key }: CallerRequest, amount: number): Promise<void> {
  const answer = await caller.request(post(team, 'payments', { ...body, amount: amount + 1 }, key));
  if (isSuccess(answer)) caller.complain('I10', `another amount under the key ${key ?? ''} was accepted`);
  if (answer.statusCode === 422) caller.saw('key reused with other terms');
}

/** I14: another team's payment. */
async function spy(caller: Caller, owner: TeamName, token: string): Promise<void> {
  const team: TeamName = owner === 'shop' ? 'rival' : 'shop';
  const requests = [
    { team, method: 'GET' as const, url: `/api/v1/payments/${token}` },
    { team, method: 'GET' as const, url: `/api/v1/payments/${token}/events` },
    post(team, 'refunds', { token, amount: 1 }, `steal-${token}`),
    post(team, 'payments/confirm', { token }),
  ];
  for (const request of requests)
    if (isSuccess(await caller.request(request)))
      caller.complain('I14', `${team} was answered with success for ${request.url} of ${owner}`);
  caller.saw("another team's payment asked for");
}

/** The customer of a payment page. */
async function payOn({ ledger, random, sleep, trace }: Caller, page: string): Promise<void> {
  await sleep(random.between(2_000, 60_000));
  const payment = ledger.payments.find((each) => pageOf(each) === page);
  if (payment === undefined || random.chance(0.1)) return;
  const isApproved = random.chance(0.85);
  trace.log(`the customer of ${payment.orderNumber} ${isApproved ? 'pays' : 'is refused'}`);
  ledger.pay(payment, isApproved);
  await sleep(random.between(100, 20_000));
}

async function endTwoStep(caller: Caller, team: TeamName, token: string): Promise<void> {
  const { random, ledger, books, faults } = caller;
  const operations = random.chance(0.2)
    ? ['confirm', 'decline']
    : [random.pick(['confirm', 'confirm', 'decline'])];
  if (operations.length === 2) caller.saw('captured and voided at once');
  await caller.sleep(random.between(500, 30_000));
  const isHeld = () =>
    ledger.payments.some(
      ({ orderNumber, heldAmount, isStranger }) =>
        orderNumber.startsWith(`${token}.`) && heldAmount > 0 && !isStranger,
    );
  const wasHeld = isHeld();
  const answers = await Promise.all(
    operations.map((operation) => insist(caller, post(team, `payments/${operation}`, { token }))),
  );
  const isRefused = answers.some((answer) => codesOf(answer?.body).includes('payment_not_confirmable'));
  const wasInReview = (books.find(token)?.reviewCount ?? 0) > 0;
  // A bare provider does not show authorized money.
  if (wasHeld && isHeld() && isRefused && !faults.isBare && !wasInReview)
    caller.complain('F5', `${token} is refused as not confirmable, and its money is authorized`);
}

/** Several refunds of a payment, possibly exceeding its amount in total, in sequence or concurrently. */
export async function refunds(
  caller: Caller,
  team: TeamName,
  { token, amount }: { token: string; amount: number },
): Promise<void> {
  const { random } = caller;
  if (random.chance(0.3)) return;
  await caller.sleep(random.between(500, 120_000));
  const count = random.whole(1, 4);
  const isAtOnce = random.chance(0.5);
  if (isAtOnce && count > 1) caller.saw('several refunds at once');
  const each = Math.max(1, Math.floor((amount * random.between(0.2, 1.2)) / count));
  const one = (index: number) =>
    insistAtOnce(caller, post(team, 'refunds', { token, amount: each }, `refund-${token}-${index}`));
  if (isAtOnce) await Promise.all(Array.from({ length: count }, (_, index) => one(index)));
  else for (let index = 0; index < count; index += 1) await one(index);
}

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
async function payOut(
  caller: Caller,
  team: TeamName,
  amount: number,
  orderNumber: string,
  destination: object = { bankAccount: { bankName: 'A bank', account: bankAccount } },
): Promise<readonly string[]> {
  const body = { amount, currency: 'EUR', orderNumber, callbackUrl: webhookUrlOf(team), destination };
  const request = post(team, 'payouts', body, orderNumber);
  caller.trace.log(`${team} pays out ${amount} (${orderNumber})`);
  const { token, created, codes } = await insistAtOnce(caller, request);
  if (token === undefined) return codes;
  if ((created['payout'] as { phase?: string } | undefined)?.phase === 'awaiting_approval') {
    await decideBySecondKey(caller, team, token);
    // An approved payout is sent when its request is repeated.
    await insistAtOnce(caller, request);
  }
  caller.saw('paid out');
  return [];
}

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

/** How often a team reads its payment before it stops waiting for a token. */
const readsMax = 6;

/** Resolves with the created payment, if any. */
async function chargeAgain(
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
  caller.trace.log(`${team} charges the customer of ${token} once more, ${amount}`);
  const charged = await insistAtOnce(caller, chargeBy(team, `charge-${number}`));
  caller.saw('a recurring token was charged');
  if (random.chance(0.3)) await payOut(caller, team, 10, `reward-${number}`, { recurringToken });
  return charged.token;
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
