/**
 * `npm run bench -- ledger`: measures the decision on a payout for a wallet with many payments, and the events per
 * second that `tollgate ledger verify` recomputes. The events are first written into an embedded event store.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEmbeddedEventStore, type EventStore, type NewEvent } from '@tollgate/event-store';
import {
  createBalanceAndLimitGuard,
  createWalletReservations,
  differencesOf,
  recomputeLedger,
} from '@tollgate/wallets';
import { createPaymentIndex, type PaymentIndex } from '@tollgate/lists';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { readCount } from '@tollgate/testing/bench';
import { paymentKind, payoutKind, streamOf } from '@tollgate/views';

const decisions = 2_000;
const warmUp = 200;
const appendsAtOnce = 500;
const amount = 1_000;
const owner = { environment: 'sandbox', team: 'shop', wallet: 'team-shop', askedBy: 'k1' } as const;
const sum = { amount, currency: 'EUR' };
const call = { sendBy: 1, answerBy: 2, quietUntil: 3 };

const whole = (value: number) => Math.round(value).toLocaleString('en');
const say = (name: string, figure: string) => process.stdout.write(`  ${name.padEnd(58)} ${figure}\n`);
const perSecond = (count: number, sinceMs: number) =>
  `${whole((count * 1000) / (performance.now() - sinceMs))}/s`;

const toEvent = (type: string, data: object): NewEvent => ({
  id: systemIds.uuid(),
  type,
  data,
  metadata: {
    schemaVersion: 1,
    correlationId: 'c',
    causationId: 'c',
    recordedAt: Date.now(),
    actor: { kind: 'team', team: owner.team, keyId: 'k1' },
  },
});

const attemptOf = (token: string) => ({
  number: 1,
  account: 'main',
  providerOrderNumber: `${token}.1`,
  ...call,
});

const paidPayment = (token: string): NewEvent[] => [
  toEvent('PaymentRequested', {
    ...owner,
    terms: { kind: 'hosted', product: 'Tea', needConfirmation: false, ...sum },
    fingerprint: 'f',
    attempt: attemptOf(token),
  }),
  toEvent('AttemptAccepted', { attemptNumber: 1, serviceToken: `svc-${token}`, evidence: 'answer' }),
  toEvent('PaymentApproved', { amount }),
];

const destination = { kind: 'bankAccount', bankName: 'A bank', accountEnding: '2051' };
const { number: _, ...payoutCall } = attemptOf('po');
const payoutRequested = (token: string): NewEvent =>
  toEvent('PayoutRequested', {
    ...owner,
    terms: { amount: 1, currency: 'EUR', orderNumber: token, destination },
    fingerprint: 'f',
    call: { ...payoutCall, providerOrderNumber: token },
  });

async function writePayments(store: EventStore, count: number): Promise<void> {
  let next = 0;
  const write = async () => {
    for (let number = next; number < count; number = next) {
      next += 1;
      const token = `pay_${number}`;
      await store.append(streamOf(paymentKind, token), paidPayment(token), 'no-stream');
    }
  };
  await Promise.all(Array.from({ length: appendsAtOnce }, write));
}

interface Took {
  ms: number;
  processorMs: number;
}

/** Each decision reads the wallet with all recorded events, and appends its reservation. */
async function measureDecisions(store: EventStore, index: PaymentIndex, isRecorded: boolean): Promise<void> {
  const quietPeriods = { hasLapsed: () => true };
  const deps = { store, index, quietPeriods, clock: systemClock, ids: systemIds };
  const guard = createBalanceAndLimitGuard(createWalletReservations(deps));
  const times: Took[] = [];
  for (let number = 0; number < decisions + warmUp; number += 1) {
    const token = `po_${String(isRecorded)}_${number}`;
    const [startedAt, processorSince] = [performance.now(), processorMs()];
    const verdict = await guard.check({
      operation: 'payout',
      caller: {
        environment: 'sandbox',
        team: owner.team,
        keyId: 'k1',
        wallet: { kind: 'own' },
        allowedOrigins: { callback: [], redirect: undefined },
      },
      cause: { correlationId: 'c', causationId: 'c', actor: { kind: 'team', team: owner.team, keyId: 'k1' } },
      token,
      subject: token,
      amount: 1,
      currency: 'EUR',
      fingerprint: 'f',
      account: 'main',
      lapsesAt: 1,
      askedAt: Date.now(),
    });
    const took = { ms: performance.now() - startedAt, processorMs: processorMs() - processorSince };
    if (number >= warmUp) times.push(took);
    if (verdict.kind !== 'passed') throw new Error(`the payout was ${verdict.kind}`);
    if (isRecorded) await store.append(streamOf(payoutKind, token), [payoutRequested(token)], 'no-stream');
  }
  const at = (field: keyof Took, share: number) =>
    (times.map((each) => each[field]).sort((a, b) => a - b)[Math.floor(times.length * share)] ?? 0).toFixed(
      2,
    );
  const both = (field: keyof Took) => `${at(field, 0.5)} / ${at(field, 0.99)} ms`;
  const name = isRecorded ? 'decision right after a payout was recorded' : 'decision on a payout';
  say(`${name}, p50 / p99 (mark: 5 ms)`, `${both('ms')}; on the processor ${both('processorMs')}`);
}

/** CPU time of the deciding thread: on a busy machine the rest is waiting for the processor. */
function processorMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

async function verify(store: EventStore, index: PaymentIndex): Promise<void> {
  const [startedAt, processorSince] = [performance.now(), processorMs()];
  const { events, standings, unbalanced } = await recomputeLedger({
    store,
    signal: new AbortController().signal,
  });
  const rate = `${perSecond(events, startedAt)}; on the processor ${whole((events * 1000) / (processorMs() - processorSince))}/s`;
  say('ledger verify, events (mark: 50,000/s)', `${whole(events)}, ${rate}`);
  if (unbalanced.length > 0 || differencesOf(standings, index.listBalances()).length > 0)
    throw new Error('the balances differ');
}

const count = readCount({ usual: 1_000_000, least: 1_000 });
const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
try {
  const store = await createEmbeddedEventStore({ file: join(folder, 'events.db') });
  let startedAt = performance.now();
  await writePayments(store, count);
  say(`${whole(count)} paid payments of one wallet written`, perSecond(count, startedAt));
  startedAt = performance.now();
  const index = createPaymentIndex({
    file: join(folder, 'index.db'),
    store,
    log: silentLog,
    clock: systemClock,
    ids: systemIds,
  });
  await index.start();
  say('index built from events, payments', perSecond(count, startedAt));
  await measureDecisions(store, index, false);
  await measureDecisions(store, index, true);
  await verify(store, index);
  await index.stop();
  await store.close();
} finally {
  rmSync(folder, { recursive: true });
}
