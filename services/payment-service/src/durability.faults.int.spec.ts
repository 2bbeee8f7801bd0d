import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programEnvironment } from '@tollgate/testing';
import { systemClock } from '@tollgate/service-kit';
import { Agent, request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startCallbackReceiver, type CallbackReceiver } from './testing/callback-receiver.ts';
import { eventually } from './testing/eventually.ts';
import { startHarness, type LedgerBody } from './testing/harness.ts';
import { tea } from './testing/samples.ts';

let dataDir: string;
let receiver: CallbackReceiver;
const children: ChildProcess[] = [];
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'payment-service-'));
  receiver = await startCallbackReceiver();
});
afterEach(async () => {
  for (const child of children.splice(0)) await end(child, 'SIGKILL');
  await receiver.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** Stops a process and resolves with its exit code, or the signal that ended it. */
async function end(child: ChildProcess, signal: 'SIGKILL' | 'SIGTERM' | 'SIGINT'): Promise<number | string> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode ?? String(child.signalCode);
  const exited = new Promise<number | string>((resolve) =>
    child.once('exit', (code, signalCode) => resolve(code ?? String(signalCode))),
  );
  child.kill(signal);
  return exited;
}

/** Runs `main.ts` in its own process and waits until it has printed its addresses. */
async function startProcess() {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts')], {
    env: {
      ...programEnvironment(),
      TOLLGATE_DATA_DIR: dataDir,
      PAYMENT_SERVICE_HTTPS_PORT: '0',
      PAYMENT_SERVICE_HTTP_PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  const output = { out: '', error: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.error += chunk.toString()));
  const httpsUrl = await eventually(
    'the process to listen',
    () => /curl --cacert/.test(output.out) && /HTTPS +(\S+)/.exec(output.out)?.[1],
    20_000,
  );
  const key = (await readFile(join(dataDir, 'payment-service-key'), 'utf8')).trim();
  const ca = await readFile(join(dataDir, 'payment-service-tls', 'ca.pem'), 'utf8');
  const agent = new Agent({ connect: { ca } });
  const call = async (method: 'GET' | 'POST', path: string, body?: object) => {
    const answer = await request(`${httpsUrl}${path}`, {
      method,
      dispatcher: agent,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    return (await answer.body.json()) as Record<string, unknown>;
  };
  const ledger = async () => (await call('GET', '/sandbox/ledger')) as unknown as LedgerBody;
  return { child, output, key, call, ledger, httpsUrl, disconnect: () => agent.destroy() };
}

// Each test starts real processes, which takes seconds on a busy machine.
describe('the service as a process', { timeout: 90_000 }, () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'stops cleanly on %s and keeps its key and its authority',
    async (signal) => {
      const first = await startProcess();
      expect(first.output.out).toContain(first.key);
      await first.disconnect();
      expect(await end(first.child, signal)).toBe(0);
      const second = await startProcess();
      expect(second.key).toBe(first.key);
      expect((await second.call('GET', '/api/v1/payments'))['success']).toBe(true);
      expect((await stat(join(dataDir, 'payment-service-key'))).mode & 0o777).toBe(0o600);
      await second.disconnect();
    },
  );

  it('answers requests in progress before it stops', async () => {
    const service = await startProcess();
    await service.call('POST', '/sandbox/faults', [
      { operation: 'create', fault: 'slow_reply', delayMs: 600_000 },
    ] as object);
    const creation = service.call('POST', '/api/v1/payments', { ...tea, orderNumber: 'under-way' });
    await eventually('the creation', async () => (await service.ledger()).payments.length === 1);
    const startedAt = systemClock.monotonic();
    const exit = end(service.child, 'SIGTERM');
    expect((await creation)['success']).toBe(true);
    expect(await exit).toBe(0);
    expect(systemClock.monotonic() - startedAt).toBeLessThan(5_000);
    await service.disconnect();
  });

  it('prints one sentence when it cannot start', async () => {
    const service = await startProcess();
    const second = spawn(process.execPath, [join(import.meta.dirname, 'main.ts')], {
      env: { ...programEnvironment(), TOLLGATE_DATA_DIR: dataDir, PAYMENT_SERVICE_HTTPS_PORT: 'x' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    children.push(second);
    let message = '';
    second.stderr.on('data', (chunk: Buffer) => (message += chunk.toString()));
    await eventually('the end of the process', () => second.exitCode !== null, 20_000);
    expect(second.exitCode).toBe(1);
    expect(message).toMatch(/^Correct these environment variables .*PAYMENT_SERVICE_HTTPS_PORT.*\n$/);
    await service.disconnect();
  });
});

describe('a restart', () => {
  it('keeps payments, history, calls, keys and the advanced clock', async () => {
    const harness = await startHarness({ dataDir });
    const paid = await harness.create({ orderNumber: 'kept', callbackUrl: receiver.url });
    await harness.pay(paid, { outcome: 'approved' });
    await receiver.waitFor(2);
    const opened = await harness.create({ callbackUrl: receiver.url });
    await harness.browse(`/checkout/${opened}`);
    await receiver.waitFor(3);
    await harness.advanceClock(29 * 60_000);
    const before = [await harness.retrieve(paid), await harness.ledger('kept')];
    const keyBefore = harness.key();

    await harness.restart();

    const { processingUrl: _page, ...openedAfter } = await harness.retrieve(opened);
    expect(harness.key()).toBe(keyBefore);
    expect(openedAfter.status).toBe('pending');
    const [, ledgerBefore] = before as [unknown, LedgerBody];
    const ledgerAfter = await harness.ledger('kept');
    expect(await harness.retrieve(paid)).toEqual(before[0]);
    expect(ledgerAfter).toMatchObject({ payments: ledgerBefore.payments, callbacks: ledgerBefore.callbacks });
    expect(ledgerAfter.calls.slice(0, ledgerBefore.calls.length)).toEqual(ledgerBefore.calls);

    await harness.advanceClock(60_000);
    expect((await harness.retrieve(opened)).status).toBe('expired');
    await harness.stop();
  });
});
