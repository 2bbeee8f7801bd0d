/**
 * No reference of ours may keep a card's number or verification value alive after the answer. Examines the heap after a
 * garbage collection, in the process that read, called and answered.
 */
import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@tollgate/testing';
import { afterAll, expect, it } from 'vitest';
import { issueKey } from './commands.ts';
import { ledgerOf } from './ledger.ts';
import { type CallGateway, type System, newDataDir, startSystem, stopEverything } from './system.ts';

afterAll(stopEverything);

/** Not one of the sandbox's test cards, which are in the program's own texts. */
const pans = ['4012888888881881', '5105105105105100', '4000056655665556'];
const payoutPan = '5200828282828210';
const holder = 'Ada Byron King-Noel';
const cvv = '7391';
/** Four digits occur in many numbers: only a value not adjacent to characters of a number, id or hash counts. */
const secrets: [name: string, pattern: RegExp][] = [
  ...[...pans, payoutPan, holder].map((text): [string, RegExp] => [text, new RegExp(text)]),
  [cvv, new RegExp(`(?<![\\w.:+/-])${cvv}(?![\\w.:+/-])`)],
];
const product = 'Tea for the heap';
const terms = { product, amount: 1250, currency: 'EUR' };
const paymentOf = (pan: string) => ({
  ...terms,
  orderNumber: `order-${pans.indexOf(pan)}`,
  card: { pan, expires: '07/2031', holder, cvv },
});
const post = (gateway: CallGateway, path: string, body: object) =>
  gateway('POST', `/api/v1/${path}`, { body });

interface Snapshot {
  snapshot: { meta: { node_fields: string[] } };
  nodes: number[];
  strings: string[];
}

/** Names and contents of objects, strings and functions in the heap. */
function textsIn(file: string): string[] {
  const { snapshot, nodes, strings } = JSON.parse(readFileSync(file, 'utf8')) as Snapshot;
  const fields = snapshot.meta.node_fields;
  const nameAt = fields.indexOf('name');
  const texts = new Set<string>();
  for (let at = nameAt; at < nodes.length; at += fields.length) texts.add(strings[nodes[at] ?? -1] ?? '');
  return [...texts];
}

/** The secrets found in a process's heap, and whether the search finds the control values. */
async function secretsInHeap({ quickstart }: System, directory: string) {
  const known = new Set(readdirSync(directory));
  process.kill(quickstart.pid, 'SIGUSR2');
  const texts = await eventually(
    () => textsIn(join(directory, readdirSync(directory).find((name) => !known.has(name)) ?? '')),
    { timeoutMs: 60_000, intervalMs: 500 },
  );
  return {
    isSearched: texts.some((text) => text.includes(product)),
    found: secrets.filter(([, pattern]) => texts.some((text) => pattern.test(text))).map(([name]) => name),
  };
}

/** Refused and repeated cards take other code paths. */
async function sendCards(gateway: CallGateway): Promise<void> {
  for (const pan of pans.slice(1)) {
    const body = paymentOf(pan);
    await post(gateway, 'payments', body);
    await post(gateway, 'payments', { ...body, amount: 1 });
    await post(gateway, 'payments', { ...body, product: pan });
    await post(gateway, 'payments', { ...body, color: 'red' });
  }
  const destination = { card: { pan: payoutPan, expires: '07/2031' } };
  await post(gateway, 'payouts', { amount: 7, currency: 'EUR', orderNumber: 'payout-1', destination });
  // Other requests run in between.
  for (let number = 0; number < 20; number += 1)
    await post(gateway, 'payments', { ...terms, orderNumber: `later-${number}` });
}

it('no card data is in the heap after its payment was answered', { timeout: 180_000 }, async () => {
  const directory = join(newDataDir(), 'heap');
  mkdirSync(directory, { recursive: true });
  const first = await startSystem({
    env: { TOLLGATE_LOG_LEVEL: 'debug', PROVIDER_CALL_DEADLINE_MS: '20000' },
  });
  // A gateway without the sandbox, which also reads cards.
  const system = await first.startBeside('heap', {
    NODE_OPTIONS: `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${directory}`,
  });
  const gateway = system.gatewayAs(await issueKey(first, 'demo', 'payments,payouts,read,cards,stored-cards'));
  await eventually(async () => expect((await gateway('GET', '/api/v1/payments')).statusCode).toBe(200));
  const slow = { operation: 'create', fault: 'slow_reply', delayMs: 10_000, times: 1 };
  await first.sandbox('POST', '/sandbox/faults', [slow]);
  const answer = post(gateway, 'payments', paymentOf(pans[0] ?? ''));
  await eventually(async () => {
    expect((await ledgerOf(first.sandbox)).payments).toHaveLength(1);
  });
  // During the call they are in the heap, and the search finds them.
  expect((await secretsInHeap(system, directory)).found).toEqual(expect.arrayContaining([pans[0], cvv]));
  await answer;
  await sendCards(gateway);
  expect(await secretsInHeap(system, directory)).toEqual({ isSearched: true, found: [] });
});
