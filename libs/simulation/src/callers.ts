/**
 * The teams' systems: they create payments, repeat what was not answered, pay as customers, capture, void, refund too much,
 * pay out, and look at what is not theirs. Each payment is a story of its own.
 */
import type { Random } from './random.ts';
import { type Holder, type TeamName, approver, teamNames, webhookUrlOf } from './teams.ts';
import { watch } from './readers.ts';
import { pageOf } from './payment-service/api.ts';
import type { Ledger } from './payment-service/ledger.ts';

export type Answer =
  | {
      kind: 'answer';
      statusCode: number;
      body: Record<string, unknown>;
      /** The process that has answered. */
      by: string;
      /** Up to where it goes (`Tollgate-Position`). */
      position: string | undefined;
    }
  | { kind: 'lost' };

export interface CallerRequest {
  team: TeamName | 'operator';
  /** Whose key it is; the team's first one unless given. */
  person?: Holder;
  method: 'GET' | 'POST' | 'PATCH';
  url: string;
  body?: object;
  key?: string;
  /** As `Tollgate-Min-Position`. */
  minPosition?: string;
}

export interface CallerWorld {
  random: Random;
  ledger: Ledger;
  /** To any of the processes; lost where it does not answer, or its answer does not arrive. */
  request(request: CallerRequest): Promise<Answer>;
  sleep(durationMs: number): Promise<void>;
  /** Until something is recorded of a payment, at most so long. */
  untilRecorded(token: string, atMostMs: number): Promise<void>;
  isInReview(token: string): boolean;
  tell(text: string): void;
  complain(invariant: string, text: string): void;
  /** Counts what must not be rare over a campaign. */
  saw(path: string): void;
  /** False once callers begin nothing more. */
  isOpen(): boolean;
}

/** What a team knows of a request that it may repeat. */
interface Known {
  token: string | undefined;
}

const repeatsMax = 12;

/** Sends until there is an answer that says what happened; undefined where there was none. I10: always the same. */
async function insist(
  world: CallerWorld,
  request: CallerRequest,
  known: Known,
): Promise<Extract<Answer, { kind: 'answer' }> | undefined> {
  for (let count = 0; count < repeatsMax && world.isOpen(); count += 1) {
    const answer = await world.request(request);
    if (answer.kind === 'answer' && answer.statusCode < 500 && answer.statusCode !== 429) {
      note(world, request, known, answer);
      if (answer.statusCode !== 202 || count > 3) return answer;
    } else if (count > 0) world.saw('repeated after no answer');
    await world.sleep(world.random.between(200, 8_000));
  }
  return undefined;
}

function note(
  world: CallerWorld,
  { url, key }: CallerRequest,
  known: Known,
  { statusCode, body }: Extract<Answer, { kind: 'answer' }>,
): void {
  const token = typeof body['token'] === 'string' ? body['token'] : undefined;
  if (statusCode >= 300 || token === undefined || key === undefined) return;
  if (known.token !== undefined && known.token !== token)
    world.complain('I10', `${url} under the key ${key} was answered with ${known.token}, then with ${token}`);
  known.token = token;
}

const post = (team: CallerRequest['team'], url: string, body: object, key?: string): CallerRequest => ({
  team,
  method: 'POST',
  url: `/api/v1/${url}`,
  body,
  ...(key === undefined ? {} : { key }),
});

const storyKinds = ['hosted', 'hosted', 'card', 'two-step', 'two-step-card'] as const;
export type StoryKind = (typeof storyKinds)[number];

/** A payment from its creation to its end. */
export async function paymentStory(world: CallerWorld, number: number, only?: StoryKind): Promise<void> {
  const { random } = world;
  const team = random.pick(teamNames);
  const amount = random.whole(2, 40) * 50;
  const kind = only ?? random.pick(storyKinds);
  const body = {
    ...{
      product: 'Tea',
      amount,
      currency: 'EUR',
      orderNumber: `order-${number}`,
      callbackUrl: webhookUrlOf(team),
    },
    ...(kind.startsWith('two-step') ? { needConfirmation: true } : {}),
    ...(kind.endsWith('card')
      ? { card: { pan: '4111111111111111', expires: '12/2039', holder: 'Ada Lovelace', cvv: '737' } }
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
  if (random.chance(0.2)) await reuseKey(world, request, amount);
  const page = created.body['processingUrl'];
  if (typeof page === 'string') await payOn(world, page);
  if (kind.startsWith('two-step')) await endTwoStep(world, team, token);
  if (random.chance(0.3)) await spy(world, team, token);
  await refunds(world, team, token, amount, number);
  await ownView(world, team, token);
  await watching;
}

/** I10: other terms under the same key. */
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
  if (wasHeld && isHeld() && isRefused && !world.isInReview(token))
    world.complain('F5', `${token} is refused as not confirmable, and its money is authorized`);
}

const codesOf = ({ errors }: Record<string, unknown> = {}): string[] =>
  Array.isArray(errors) ? (errors as { code: string }[]).map(({ code }) => code) : [];

/** One after the other, or several at once over the sum. */
async function refunds(
  world: CallerWorld,
  team: TeamName,
  token: string,
  amount: number,
  number: number,
): Promise<void> {
  const { random } = world;
  if (random.chance(0.3)) return;
  await world.sleep(random.between(500, 120_000));
  const count = random.whole(1, 4);
  const isAtOnce = random.chance(0.5);
  if (isAtOnce && count > 1) world.saw('several refunds at once');
  const each = Math.max(1, Math.floor((amount * random.between(0.2, 1.2)) / count));
  const one = async (index: number) => {
    const known: Known = { token: undefined };
    const request = post(team, 'refunds', { token, amount: each }, `refund-${number}-${index}`);
    const tries = random.chance(0.3) ? 2 : 1;
    if (tries === 2) world.saw('the same refund twice at once');
    await Promise.all(Array.from({ length: tries }, () => insist(world, request, known)));
  };
  if (isAtOnce) await Promise.all(Array.from({ length: count }, (_, index) => one(index)));
  else for (let index = 0; index < count; index += 1) await one(index);
}

/** A team sees its own payment, and in no state that the service never had. */
async function ownView(world: CallerWorld, team: TeamName, token: string): Promise<void> {
  await world.sleep(world.random.between(500, 20_000));
  const answer = await world.request({ team, method: 'GET', url: `/api/v1/payments/${token}` });
  if (answer.kind === 'answer' && answer.statusCode === 404)
    world.complain('I5', `${token} was created for ${team} and is not found`);
}

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
async function payOut(
  world: CallerWorld,
  team: TeamName,
  amount: number,
  orderNumber: string,
): Promise<readonly string[]> {
  const body = {
    ...{ amount, currency: 'EUR', orderNumber, callbackUrl: webhookUrlOf(team) },
    destination: { bankAccount: { bankName: 'A bank', account: 'DE02120300000000202051' } },
  };
  const request = post(team, 'payouts', body, orderNumber);
  world.tell(`${team} pays out ${amount} (${orderNumber})`);
  const known: Known = { token: undefined };
  const tries = world.random.chance(0.3) ? 2 : 1;
  const answers = await Promise.all(Array.from({ length: tries }, () => insist(world, request, known)));
  const { token } = known;
  if (token === undefined) return answers.flatMap((answer) => codesOf(answer?.body));
  if (answers.some((answer) => isAwaiting(answer?.body))) {
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
