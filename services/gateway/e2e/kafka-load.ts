/** The load on a gateway with Kafka: creations from eight connections until it is ended, every fourth paid. */
import { eventually } from '@tollgate/testing';
import { expect, onTestFinished } from 'vitest';
import { ledgerOf } from './ledger.ts';
import { newLoad, pay } from './mixed-load.ts';
import type { Answer, System } from './system.ts';

const connections = 8;
/** Pause between two creations of one connection: this tests correctness, not throughput. */
const pauseMs = 200;
const answeredWithinMs = 60_000;
const paidOneIn = 4;
/**
 * After a kill Kafka waits 30 s for the dead consumer's session before it reassigns its callbacks, and twice that after
 * two kills in a row. Less than two minutes, after which payments would be inquired even without a callback.
 */
const approvedWithinMs = 100_000;

export interface CreationLoad {
  /** The gateway's tokens of the payments whose creation was answered, by order number. */
  tokens: Map<string, string>;
  /** Payments that a customer has paid. */
  paid: Set<string>;
  /** Creations without an immediate success; each is repeated. */
  setbacks: number;
  /** Stops creating payments, and resolves when all pending requests are answered. */
  end(): Promise<void>;
}

/** @param systems the current gateways: the connections alternate */
export function startLoad(systems: () => readonly System[], name: string): CreationLoad {
  let hasEnded = false;
  let begun = 0;
  const load: CreationLoad = {
    tokens: new Map(),
    paid: new Set(),
    setbacks: 0,
    end: async () => {
      hasEnded = true;
      await Promise.all(running);
    },
  };

  async function connection(number: number): Promise<void> {
    const system = (): System => {
      const all = systems();
      return all[number % all.length] ?? never();
    };
    while (!hasEnded) {
      const orderNumber = `${name}-${(begun += 1)}`;
      const isPaid = begun % paidOneIn === 0;
      const { body } = await create(load, system, orderNumber);
      load.tokens.set(orderNumber, body.token);
      if (isPaid) {
        await pay(newLoad(system), body.processingUrl);
        load.paid.add(body.token);
      }
      await delay(pauseMs);
    }
  }

  const running = Array.from({ length: connections }, (_, number) => connection(number));
  // `end` reports a failure; until then it must not end the process.
  for (const each of running) each.catch(() => (hasEnded = true));
  onTestFinished(() => load.end());
  return load;
}

const delay = (durationMs: number) => new Promise((resolve) => setTimeout(resolve, durationMs));

function never(): never {
  throw new Error('there is no gateway to be loaded');
}

/** Repeats until the payment has its page; the order number makes it a single payment. */
async function create(load: CreationLoad, system: () => System, orderNumber: string): Promise<Answer> {
  const body = { product: 'Tea', amount: 1250, currency: 'EUR', orderNumber };
  const giveUpAt = Date.now() + answeredWithinMs;
  for (;;) {
    let last: unknown;
    try {
      const answer = await system().gateway('POST', '/api/v1/payments', { body });
      if (answer.statusCode === 200) return answer;
      last = answer;
    } catch (error) {
      last = error;
    }
    load.setbacks += 1;
    if (Date.now() > giveUpAt) throw new Error(`${orderNumber} was not created`, { cause: last });
    await delay(pauseMs);
  }
}

/**
 * Checks the load for losses and duplicates: each payment exists, once at the service, and is paid if a customer paid
 * it.
 */
export async function expectAllThere(system: System, loads: readonly CreationLoad[]): Promise<void> {
  const paid = loads.flatMap((load) => [...load.paid]);
  const tokens = loads.flatMap((load) => [...load.tokens.values()]);
  expect(paid.length).toBeGreaterThan(0);
  expect(new Set(tokens).size).toBe(tokens.length);
  const waiting = new Set(paid);
  await eventually(
    async () => {
      await Promise.all([...waiting].map((token) => dropApproved(system, waiting, token)));
      expect([...waiting]).toEqual([]);
    },
    { timeoutMs: approvedWithinMs, intervalMs: 500 },
  );
  const { payments } = await ledgerOf(system.sandbox);
  // A late answer leads to a second page under its own number. Each number exists once, and one page is paid.
  const numbers = payments.map(({ orderNumber }) => orderNumber);
  expect(new Set(numbers).size).toBe(numbers.length);
  const pages = Map.groupBy(payments, ({ orderNumber }) => orderNumber.split('.')[0]);
  for (const token of tokens) {
    expect(pages.get(token), token).toBeDefined();
    const taken = pages.get(token)?.filter(({ status }) => status === 'approved') ?? [];
    expect(taken.length, token).toBeLessThanOrEqual(1);
  }
}

async function dropApproved({ gateway }: System, waiting: Set<string>, token: string): Promise<void> {
  const { statusCode, body } = await gateway('GET', `/api/v1/payments/${token}`);
  if (statusCode === 200 && body.payment.phase === 'approved') waiting.delete(token);
}
