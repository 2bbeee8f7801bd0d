/**
 * Every operation that moves money, from many concurrent connections, each repeated several times, like teams'
 * programs.
 */
import { dayMs } from '@tollgate/service-kit';
import type { Answer, ReachedSystem } from './system.ts';

/** The effects of one flow, for the comparison with the service's ledger. */
interface Outcome {
  flow: string;
  /** The gateway's token of the payment, or of the payout. */
  token: string;
  kind: 'payment' | 'payout';
}

export interface Load {
  /** The current system: another process after a restart. */
  system: () => ReachedSystem;
  /** Requests that were answered. */
  answered: number;
  outcomes: Outcome[];
  /** Answers to one request that contradict each other. */
  contradictions: string[];
  /** How long a flow waits for a status of its payment. @unit milliseconds */
  phaseWithinMs: number;
}

/** A payment with a lost callback is inquired after two minutes, and again if that inquiry fails. */
const phaseWithinDefaultMs = 420_000;

export const newLoad = (system: () => ReachedSystem, phaseWithinMs = phaseWithinDefaultMs): Load => ({
  system,
  phaseWithinMs,
  answered: 0,
  outcomes: [],
  contradictions: [],
});

/** How long a part of the system may be down, and an operation is repeated while its outcome is unknown. */
const giveUpMs = 60_000;
const pauseMs = 100;
const pauseMaxMs = 2_000;

/** Pauses that grow, as a program's do: repeats must not keep a slow machine busy. */
function growingPause(): () => Promise<void> {
  let nextMs = pauseMs;
  return async () => {
    const pausedMs = nextMs;
    nextMs = Math.min(2 * nextMs, pauseMaxMs);
    await new Promise((resolve) => setTimeout(resolve, pausedMs));
  };
}

const isOpen = ({ statusCode }: Answer): boolean => [202, 409, 429, 503].includes(statusCode);

/**
 * Sends two concurrent requests, and repeats them until the outcome is known or the time is up. Every answer must name
 * the same operation.
 */
async function ask(
  load: Load,
  path: string,
  options: { body: object; key?: string; withinMs?: number },
): Promise<Answer> {
  const { body, key, withinMs = giveUpMs } = options;
  const call = { body, ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }) };
  const giveUpAt = Date.now() + withinMs;
  const pause = growingPause();
  const tokens = new Set<string>();
  for (;;) {
    const asked = [load.system().gateway('POST', path, call), load.system().gateway('POST', path, call)];
    const answers = (await Promise.allSettled(asked)).flatMap((each) =>
      each.status === 'fulfilled' ? [each.value] : [],
    );
    load.answered += answers.length;
    for (const { body: answer, statusCode } of answers) if (statusCode < 300) tokens.add(answer.token);
    if (tokens.size > 1) load.contradictions.push(`${path} ${key ?? ''}: ${[...tokens].join(', ')}`);
    const known = answers.find((answer) => !isOpen(answer)) ?? answers.at(-1);
    if (known !== undefined && (!isOpen(known) || Date.now() > giveUpAt || isRefused(known))) return known;
    if (known === undefined && Date.now() > giveUpAt) throw new Error(`${path} was never answered`);
    await pause();
  }
}

/** A certain refusal is also answered with 409. */
const isRefused = ({ statusCode, body }: Answer): boolean =>
  statusCode === 409 && body.errors.every(({ code }) => code !== 'operation_in_progress');

/** Runs a call until the system answers it: it may be down for a moment. */
export async function persistently<Value>(call: () => Promise<Value>): Promise<Value> {
  const giveUpAt = Date.now() + giveUpMs;
  const pause = growingPause();
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (Date.now() > giveUpAt) throw error;
      await pause();
    }
  }
}

const terms = (orderNumber: string) => ({ product: 'Tea', amount: 100, currency: 'EUR', orderNumber });

async function create(load: Load, flow: string, more: object): Promise<string> {
  const giveUpAt = Date.now() + load.phaseWithinMs;
  const pause = growingPause();
  for (let tryNumber = 1; ; tryNumber += 1) {
    const orderNumber = tryNumber === 1 ? flow : `${flow}-${tryNumber}`;
    const body = { ...terms(orderNumber), ...more };
    // The flow needs the page. Failed inquiries are repeated after 15 s, then 30 s.
    const created = await ask(load, '/api/v1/payments', { body, withinMs: load.phaseWithinMs });
    const { statusCode, body: answer } = created;
    if (statusCode === 200) {
      load.outcomes.push({ flow, token: answer.token, kind: 'payment' });
      return answer.processingUrl;
    }
    // On a slow machine a call may not be sent in time. Nothing was charged then, and a client repeats it, as the error
    // says.
    const isNotReached = statusCode === 502 && answer.errors[0]?.code === 'provider_not_reached';
    if (!isNotReached || Date.now() > giveUpAt) throw new Error(`${flow}: ${JSON.stringify(created)}`);
    await pause();
  }
}

/** The customer's action on the page. */
export async function pay(load: Load, processingUrl: string): Promise<void> {
  if (!URL.canParse(processingUrl)) throw new Error('there is no page to pay on');
  const serviceToken = new URL(processingUrl).pathname.split('/').at(-1) ?? '';
  await persistently(() =>
    load.system().sandbox('POST', `/sandbox/payments/${serviceToken}/pay`, { pan: '4392963203551251' }),
  );
}

async function untilPhase(load: Load, token: string, wanted: string): Promise<void> {
  const giveUpAt = Date.now() + load.phaseWithinMs;
  const pause = growingPause();
  for (;;) {
    const answer = await persistently(() => load.system().gateway('GET', `/api/v1/payments/${token}`));
    // A part of the system may be down for a moment.
    const phase = answer.statusCode === 200 ? answer.body.payment.phase : `HTTP ${answer.statusCode}`;
    if (phase === wanted) return;
    if (Date.now() > giveUpAt) throw new Error(`${token} is ${phase}, not ${wanted}`);
    await pause();
  }
}

/** Created, paid on the page, refunded in two parts. */
export async function refundedPayment(load: Load, flow: string): Promise<void> {
  const page = await create(load, flow, {});
  const { token } = load.outcomes.find((each) => each.flow === flow) ?? { token: '' };
  await pay(load, page);
  await untilPhase(load, token, 'approved');
  for (const amount of [30, 40])
    await ask(load, '/api/v1/refunds', { body: { token, amount }, key: `${flow}-${amount}` });
}

/** Created as a two-step payment, paid on the page, then captured or voided. */
export async function captureOrVoidPayment(
  load: Load,
  flow: string,
  operation: 'confirm' | 'decline',
): Promise<void> {
  const page = await create(load, flow, { needConfirmation: true });
  const { token } = load.outcomes.find((each) => each.flow === flow) ?? { token: '' };
  await pay(load, page);
  await untilPhase(load, token, 'authorized');
  await ask(load, `/api/v1/payments/${operation}`, { body: { token } });
}

export async function payout(load: Load, flow: string): Promise<void> {
  const destination = { bankAccount: { bankName: 'A bank', account: 'DE02120300000000202051' } };
  const body = { amount: 7, currency: 'EUR', orderNumber: flow, destination };
  const answer = await ask(load, '/api/v1/payouts', { body });
  const { token }: { token?: string } = answer.body;
  // A payment that was never announced has none: the system was down for all attempts.
  if (token === undefined) throw new Error(`${flow}: ${JSON.stringify(answer)}`);
  load.outcomes.push({ flow, token, kind: 'payout' });
}

/**
 * Runs the flows over a number of concurrent connections. Rejects on a failure, including one before it was awaited.
 */
export function runFlows(flows: readonly (() => Promise<void>)[], connections: number): Promise<void> {
  const queue = flows.values();
  const work = async () => {
    for (const flow of queue) await flow();
  };
  const running = Promise.all(Array.from({ length: connections }, work)).then(() => undefined);
  running.catch(() => undefined);
  return running;
}

/** Money for the payouts: a large payment, settled. */
export async function fund(load: Load): Promise<void> {
  const body = { product: 'Funds', amount: 1_000_000, currency: 'EUR', orderNumber: 'funds' };
  const created = await ask(load, '/api/v1/payments', { body });
  await pay(load, created.body.processingUrl);
  await untilPhase(load, created.body.token, 'approved');
  await load.system().sandbox('POST', '/sandbox/clock', { advanceMs: 2 * dayMs });
}
