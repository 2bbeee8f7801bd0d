import { randomUUID } from 'node:crypto';
import {
  requestReconciliation,
  decodeReconciliationJournalEvent,
  noCounts,
  reconciliationJournal,
  reconciliationStream,
  type Counts,
  type ReconciliationRequest,
} from '@tollgate/reconciliation';
import { membersStream } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { systemClock, systemIds } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { providerCalls } from '@tollgate/gateway/configuration';
import { runWith, toolsWith } from './testing/run-with.ts';

const now = Date.UTC(2026, 10, 10, 12);
const given = 'reconcile --account main --environment sandbox';

/** A gateway that ends each run with the given result once the command waits for it; without one, nothing happens. */
async function start(gateway?: {
  outcome?: string;
  counts?: Partial<Counts>;
  interrupted?: boolean;
  /** Another run of the account is in progress for this time. */
  isBusyForMs?: number;
}) {
  const store = await temporaryStore();
  let waitedMs = 0;
  const taken = new Set<string>();
  const append = (token: string, type: string, data: unknown) =>
    store.append(reconciliationStream(token), [{ id: randomUUID(), type, data, metadata: {} }], 'any');

  async function carryOut(request: ReconciliationRequest): Promise<void> {
    const { outcome = 'complete', counts = { matched: 3 }, interrupted = false } = gateway ?? {};
    const { token } = request;
    await append(token, 'ReconciliationStarted', { ...request, startedAt: now });
    if (interrupted)
      await append(token, 'ReconciliationInterrupted', { reason: 'timeout', interruptedAt: now });
    const there = { status: 'approved', amount: 900, refundedAmount: 400 };
    const difference = {
      kind: 'only_at_service',
      serviceToken: 'service-\u001b[31m',
      currency: 'EUR',
      there,
    };
    const differences =
      (counts.onlyAtService ?? 0) > 0 ? [{ ...difference, operation: 'payment', isSettled: false }] : [];
    const found = { counts: { ...noCounts, ...counts }, sums: [], differences, teams: [] };
    const page = { operation: 'payment', pass: 1, page: 1, isLast: true, total: 3, seen: '' };
    await append(token, 'PageCompared', { ...page, ...found });
    await append(token, 'ReconciliationEnded', { outcome, endedAt: now });
  }

  const requests = async () => {
    const recorded = await Array.fromAsync(store.read(reconciliationJournal));
    return recorded.map(decodeReconciliationJournalEvent).map(({ data }) => data);
  };
  const clock = {
    ...systemClock,
    now: () => now,
    monotonic: () => waitedMs,
    async sleep(durationMs: number) {
      waitedMs += durationMs;
      if (gateway === undefined || waitedMs < (gateway.isBusyForMs ?? 0)) return;
      for (const request of await requests())
        if (!taken.has(request.token)) await carryOut(taken.add(request.token) && request);
    },
  };
  const run = (more: string) => runWith(toolsWith({ store, clock }), `${given} ${more}`.trim());
  return { run, requests, store, clock, taken };
}

describe('reconcile', () => {
  it('requests each day, shows progress and result, and exits with 0 if nothing differs', async () => {
    const { run, requests } = await start({});
    const { exitCode, out, error } = await run('--from 2026-11-01 --to 2026-11-02');
    expect([exitCode, error]).toEqual([0, '']);
    expect(await requests()).toMatchObject([
      { account: 'main', environment: 'sandbox', day: '2026-11-01', isDryRun: false, by: 'person' },
      { account: 'main', environment: 'sandbox', day: '2026-11-02', isDryRun: false, by: 'person' },
    ]);
    expect(out).toContain('2026-11-01: page 1 of the payments compared; 3 matched, 0 different\n');
    expect(out).toMatch(/^main 2026-11-02: complete: 3 matched, 0 differing, .*\n.*\/reconciliations\/rcn_/m);
  });

  it.each([
    ['something differs', { counts: { onlyAtService: 1 } }],
    ['not everything was compared', { outcome: 'incomplete' }],
  ])('ends with 1 where %s', async (_, gateway) => {
    const { run } = await start(gateway);
    expect((await run('--from 2026-11-01')).exitCode).toBe(1);
  });

  it('shows differences, without external control characters', async () => {
    const { run } = await start({ counts: { onlyAtService: 1 } });
    const { out } = await run('--from 2026-11-01 --dry-run');
    expect(out).toMatch(/\(dry run\)/);
    expect(out).toContain('only_at_service');
    expect(out).toContain('approved 9.00 EUR, 4.00 EUR refunded');
    expect(out).not.toContain('\u001b');
  });

  it('prints only one line of JSON on request', async () => {
    const { run, requests } = await start({ counts: { onlyAtService: 1 } });
    const { exitCode, out } = await run('--from 2026-11-01 --dry-run --json');
    expect(exitCode).toBe(1);
    expect(JSON.parse(out)).toMatchObject([
      { request: { day: '2026-11-01', isDryRun: true }, counts: { onlyAtService: 1 } },
    ]);
    expect(await requests()).toMatchObject([{ isDryRun: true }]);
  });

  it('reports an account that does not answer', async () => {
    const { run } = await start({ interrupted: true });
    expect((await run('--from 2026-11-01')).out).toContain('the account gives no answer (timeout)');
  });

  // A busy gateway must not be reported as stopped.
  it('names the run it waits for while the gateway is busy', async () => {
    const { run, store, clock, taken } = await start({ isBusyForMs: 60_000 });
    const self = { member: 'gateway', release: '1', reads: 1, shares: [providerCalls] };
    const beat = { id: randomUUID(), type: 'MemberLives', data: self, metadata: {} };
    await store.append(membersStream, [beat], 'any');
    const { token } = await requestReconciliation(
      { store, clock, ids: systemIds },
      { environment: 'sandbox', account: 'main', day: '2026-10-31', isDryRun: false, by: 'schedule' },
    );
    taken.add(token);
    const { exitCode, out, error } = await run('--from 2026-11-01');
    expect([exitCode, error]).toEqual([0, '']);
    expect(out).toContain(`2026-11-01: waits for another run of this account, ${token} for 2026-10-31\n`);
    expect(out).toMatch(/main 2026-11-01: complete/);
  });

  it('reports if no gateway is running, or the account does not exist', async () => {
    const { run } = await start();
    const { exitCode, error } = await run('--from 2026-11-01');
    expect([exitCode, error]).toEqual([1, expect.stringContaining('No running gateway calls the accounts')]);
    const other = await start({ outcome: 'account_unknown' });
    expect(await other.run('--from 2026-11-01')).toMatchObject({
      exitCode: 1,
      error: '--account is main, and the gateway has no such account in sandbox.\n',
    });
  });

  it.each([
    ['--from 2026-11-02 --to 2026-11-01', '--from must not be after --to.'],
    ['--from 2026-11-11', '--to must not be in the future.'],
    ['--from 2020-01-01 --to 2026-01-01', '--from and --to must be at most 366 days apart.'],
    ['--from 2026-02-30', /'--from <day>'.* must be an existing day/],
    ['', /'--from <day>' not specified/],
  ])('names what is wrong in %j, and asks for nothing', async (more, message) => {
    const { run, requests } = await start({});
    const { exitCode, error } = await run(more);
    expect(exitCode).toBe(2);
    expect(error).toMatch(message);
    expect(await requests()).toEqual([]);
  });
});
