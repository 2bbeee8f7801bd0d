/**
 * The main claim: with any lost answers and process kills, the provider's ledger and the gateway agree in the end.
 * Nothing has happened twice, and a review is opened exactly for the cases that no inquiry can settle.
 */
import { eventually } from '@tollgate/testing';
import { afterAll, expect, it } from 'vitest';
import {
  reviewsOf,
  countLost,
  expectAgreement,
  flowsOf,
  loseReplies,
  lossFaults,
  lossy,
  shortTimes,
} from './agreement.ts';
import { fund, newLoad, persistently, runFlows } from './mixed-load.ts';
import { operatorOf } from './commands.ts';
import { startSystem, stopEverything } from './system.ts';

afterAll(stopEverything);

const connections = 32;
/** Inquiries have intervals of up to minutes; a busy machine adds delays. */
const settleWithinMs = 240_000;

it(
  'with every second answer lost, a thousand mixed requests end in agreement',
  { timeout: 900_000 },
  async () => {
    const system = await startSystem({ env: shortTimes });
    const load = newLoad(() => system);
    await fund(load);
    await loseReplies(system);
    await runFlows(flowsOf(load, { refunded: 90, captureOrVoid: 90, payouts: 60 }), connections);
    expect(load.answered).toBeGreaterThan(1_000);
    expect(load.contradictions).toEqual([]);
    // A test with few lost answers would prove little.
    for (const operation of lossy)
      for (const fault of lossFaults)
        expect(await countLost(system, operation, fault), `${fault} of ${operation}`).toBeGreaterThan(2);
    const operator = await operatorOf(system, 'ada@company.example');
    await eventually(() => expectAgreement(system, load, operator), { timeoutMs: settleWithinMs });
    // Nothing was cut off, so everything can be resolved.
    expect(await reviewsOf(system)).toEqual([]);
  },
);

it(
  'the same on two gateways side by side: one is killed, then both at once',
  { timeout: 900_000 },
  async () => {
    let first = await startSystem({ env: shortTimes });
    let second = await first.startBeside('second');
    let turn = 0;
    // Every repeat uses the other gateway.
    const load = newLoad(() => ((turn += 1) % 2 === 0 ? first : second));
    await fund(load);
    await loseReplies(first);
    const running = runFlows(flowsOf(load, { refunded: 60, captureOrVoid: 60, payouts: 40 }), connections);
    const answeredMoreThan = (count: number) =>
      eventually(async () => expect(load.answered).toBeGreaterThan(count), { timeoutMs: settleWithinMs });
    await answeredMoreThan(150);
    await second.kill();
    second = await second.restart();
    await answeredMoreThan(400);
    // The sandbox is in the process of the first.
    await Promise.all([first.kill(), second.kill()]);
    first = await first.restart();
    second = await second.restart();
    await persistently(() => loseReplies(first));
    await running;
    expect(load.contradictions).toEqual([]);
    const operator = await operatorOf(first, 'ada@company.example');
    await eventually(() => expectAgreement(first, load, operator), { timeoutMs: settleWithinMs });
    await second.terminate();
  },
);
