/** The teams' payments: created, repeated where nothing was answered, paid by customers, captured, voided, refunded too much. */
import { type CallerRequest, type CallerWorld, type Known, codesOf, insist, post } from './caller.ts';
import { pageOf } from '../payment-service/api.ts';
import { watch } from './readers.ts';
import { chargeAgain } from './recurring.ts';
import { refunds } from './refunds.ts';
import { cardNumber, emailOf } from '../checks/secrets.ts';
import { type TeamName, teamNames, webhookUrlOf } from './teams.ts';

const storyKinds = ['hosted', 'hosted', 'card', 'two-step', 'two-step-card'] as const;

/** A payment from its creation to its end. */
export async function paymentStory(world: CallerWorld, number: number): Promise<void> {
  const { random } = world;
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
    ...(kind.startsWith('two-step') ? { needConfirmation: true } : {}),
    ...(isRecurring ? { recurring: true } : {}),
    ...(email === undefined ? {} : { customer: { email, ip: '203.0.113.7' } }),
    ...(kind.endsWith('card')
      ? { card: { pan: cardNumber, expires: '12/2039', holder: 'Ada Lovelace', cvv: '737' } }
      : {}),
  };
  const request = post(team, 'payments', body, `create-${number}`);
  const known: Known = { token: undefined };
  world.tell(`${team} creates payment ${number} (${kind}, ${amount})`);
  const tries = random.chance(0.3) ? 2 : 1;
  if (tries === 2) world.saw('the same key twice at once');
  const answers = await Promise.all(Array.from({ length: tries }, () => insist(world, request, known)));
  const created = answers.find((answer) => answer !== undefined && answer.statusCode < 300);
  const token = known.token;
  if (created === undefined || token === undefined) return;
  const reader = random.fork('reader');
  const watching = reader.chance(0.3) ? watch({ ...world, random: reader }, team, token) : undefined;
  if (random.chance(0.2) && world.isOpen()) await reuseKey(world, request, amount);
  const page = created.body['processingUrl'];
  if (typeof page === 'string') await payOn(world, page);
  if (kind.startsWith('two-step')) await endTwoStep(world, team, token);
  if (random.chance(0.3)) await spy(world, team, token);
  if (isRecurring) await comeBack({ ...world, random: customer }, team, token, number);
  await refunds(world, team, token, amount, String(number));
  await ownView(world, team, token);
  await watching;
}

/** A customer whose token is charged again, and what is refunded of that. */
async function comeBack(world: CallerWorld, team: TeamName, token: string, number: number): Promise<void> {
  const charged = await chargeAgain(world, team, token, number);
  if (charged !== undefined) await refunds(world, team, charged, 50, `of-charge-${number}`);
}

/** I10: other terms under the same key. Not once teams stay out: a restored store may have forgotten the payment, which would be a new one (seed 95926). */
async function reuseKey(
  world: CallerWorld,
  { team, body, key }: CallerRequest,
  amount: number,
): Promise<void> {
  const answer = await world.request({
    ...post(team, 'payments', { ...body, amount: amount + 1 }),
    ...(key === undefined ? {} : { key }),
  });
  if (answer.kind === 'answer' && answer.statusCode < 300)
    world.complain('I10', `another amount under the key ${key ?? ''} was answered ${answer.statusCode}`);
  if (answer.kind === 'answer' && answer.statusCode === 422) world.saw('key reused with other terms');
}

/** I14: another team's payment. */
async function spy(world: CallerWorld, owner: TeamName, token: string): Promise<void> {
  const team: TeamName = owner === 'shop' ? 'rival' : 'shop';
  const requests = [
    { team, method: 'GET' as const, url: `/api/v1/payments/${token}` },
    { team, method: 'GET' as const, url: `/api/v1/payments/${token}/events` },
    post(team, 'refunds', { token, amount: 1 }, `steal-${token}`),
    post(team, 'payments/confirm', { token }),
  ];
  for (const request of requests) {
    const answer = await world.request(request);
    if (answer.kind === 'answer' && answer.statusCode < 300)
      world.complain('I14', `${team} was answered ${answer.statusCode} for ${request.url} of ${owner}`);
  }
  world.saw("another team's payment asked for");
}

/** The customer of a page that was handed out. */
async function payOn({ ledger, random, sleep, tell }: CallerWorld, page: string): Promise<void> {
  await sleep(random.between(2_000, 60_000));
  const payment = ledger.payments.find((each) => pageOf(each) === page);
  if (payment === undefined || random.chance(0.1)) return;
  const isApproved = random.chance(0.85);
  tell(`the customer of ${payment.orderNumber} ${isApproved ? 'pays' : 'is refused'}`);
  ledger.pay(payment, isApproved);
  await sleep(random.between(100, 20_000));
}

async function endTwoStep(world: CallerWorld, team: TeamName, token: string): Promise<void> {
  const { random } = world;
  const operations = random.chance(0.2)
    ? ['confirm', 'decline']
    : [random.pick(['confirm', 'confirm', 'decline'])];
  if (operations.length === 2) world.saw('captured and voided at once');
  await world.sleep(random.between(500, 30_000));
  const isHeld = () =>
    world.ledger.payments.some(
      ({ orderNumber, heldAmount, isStranger }) =>
        orderNumber.startsWith(`${token}.`) && heldAmount > 0 && !isStranger,
    );
  const wasHeld = isHeld();
  const answers = await Promise.all(
    operations.map((operation) =>
      insist(world, post(team, `payments/${operation}`, { token }), { token: undefined }),
    ),
  );
  const isRefused = answers.some((answer) => codesOf(answer?.body).includes('payment_not_confirmable'));
  if (wasHeld && isHeld() && isRefused && !world.hidesAuthorizations && !world.isInReview(token))
    world.complain('F5', `${token} is refused as not confirmable, and its money is authorized`);
}

/** A team sees its own payment, and in no state that the service never had. */
async function ownView(world: CallerWorld, team: TeamName, token: string): Promise<void> {
  await world.sleep(world.random.between(500, 20_000));
  const answer = await world.request({ team, method: 'GET', url: `/api/v1/payments/${token}` });
  if (answer.kind === 'answer' && answer.statusCode === 404)
    world.complain('I5', `${token} was created for ${team} and is not found`);
}
