/**
 * Two gateways on one data directory share the inquiry schedule, and all callbacks are lost. One is suspended for half
 * a minute when the first inquiries are due, and is killed later. A take-over must not postpone inquiries that are due.
 */
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@tollgate/testing';
import { afterAll, expect, it } from 'vitest';
import { type System, startSystem, stopEverything } from './system.ts';

afterAll(stopEverything);
const count = 40;
const card = '4392963203551251';
/**
 * Seconds. A payment found approved in the first second, by a gateway that has just started, is also inquired after its
 * revision.
 */
const finalInquiries = { FINAL_INQUIRIES_AFTER_S: '30,60,90,120,150,180,3600' };

/** Metrics of the gateway that was started second. */
function pidOf(system: System, instance: string): number {
  const isIt = (pid: string) => {
    try {
      const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
      return (
        environment.includes(`TOLLGATE_INSTANCE=${instance}`) &&
        environment.includes(`TOLLGATE_DATA_DIR=${system.dataDir}`)
      );
    } catch {
      return false;
    }
  };
  const [pid] = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && isIt(name));
  if (pid === undefined) throw new Error('there is no such process');
  return Number(pid);
}

const since = (at: number) => `${Math.round((performance.now() - at) / 100) / 10} s`;

it(
  'finds every unreported outcome, whichever of two gateways is stopped or killed',
  { timeout: 600_000 },
  async () => {
    const first = await startSystem({ env: finalInquiries });
    const second = await first.startBeside('second', finalInquiries);
    await first.sandbox('POST', '/sandbox/faults', [
      { operation: 'callback', fault: 'drop', probability: 1 },
    ]);
    const made: { token: string; there: string }[] = [];
    for (let index = 0; index < count; index += 1) {
      const body = { product: 'Tea', amount: 100, currency: 'EUR', orderNumber: `beside-${index}` };
      const answer = await (index % 2 === 0 ? first : second).gateway('POST', '/api/v1/payments', { body });
      expect(answer.statusCode).toBe(200);
      const there = new URL(answer.body.processingUrl).pathname.split('/').at(-1) ?? '';
      made.push({ token: answer.body.token, there });
      await first.sandbox('POST', `/sandbox/payments/${there}/pay`, { pan: card });
    }
    const madeAt = performance.now();
    const stopped = pidOf(first, 'second');
    await delay(110_000);
    process.kill(stopped, 'SIGSTOP');
    await delay(30_000);
    process.kill(stopped, 'SIGCONT');
    const statuses = async () =>
      (await Promise.all(made.map(({ token }) => first.gateway('GET', `/api/v1/payments/${token}`)))).map(
        ({ body }) => body.payment.status,
      );
    // Reading an unresolved payment triggers an inquiry; reading an open one does not.
    await eventually(async () => expect(new Set(await statuses())).toEqual(new Set(['approved'])), {
      timeoutMs: 60_000,
      intervalMs: 1_000,
    });
    console.log(`all approved ${since(madeAt)} after they were made`);
    for (const { there } of made)
      await first.sandbox('POST', `/sandbox/payments/${there}/revise`, { status: 'declined', amount: 100 });
    const revisedAt = performance.now();
    await second.kill();
    await eventually(async () => expect(new Set(await statuses())).toEqual(new Set(['declined'])), {
      timeoutMs: 180_000,
      intervalMs: 1_000,
    });
    console.log(`all revised ${since(revisedAt)} later`);
  },
);
