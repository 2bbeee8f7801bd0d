/** How many payments a second the service creates, from the first to the hundred thousandth, and in how much memory. */
import { fork, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { LoadResult, LoadTarget } from './load.ts';

const connections = 64;
const paymentsDefault = 100_000;
/** Where a row of the table ends, as shares of all payments. */
const steps = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1];
/** Of the times in /proc, per second, on every Linux that Node runs on. */
const ticksPerSecond = 100;

interface Service {
  child: ChildProcess;
  target: LoadTarget;
  databaseFile: string;
}

async function startService(dataDir: string): Promise<Service> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../src/main.ts')], {
    env: {
      PATH: process.env['PATH'],
      TOLLGATE_DATA_DIR: dataDir,
      PAYMENT_SERVICE_HTTPS_PORT: '0',
      PAYMENT_SERVICE_HTTP_PORT: '0',
      TOLLGATE_LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  for await (const chunk of child.stdout) {
    output += String(chunk);
    if (output.includes('curl --cacert')) break;
  }
  const found = (name: string) => new RegExp(`${name} +(\\S+)`).exec(output)?.[1];
  const [url, caFile, key] = [found('HTTPS'), found('CA'), found('key')];
  if (url === undefined || caFile === undefined || key === undefined)
    throw new Error('The service did not start.');
  return {
    child,
    target: { url, caFile, key, connections },
    databaseFile: join(dataDir, 'payment-service.db'),
  };
}

async function startLoad(target: LoadTarget) {
  const child = fork(join(import.meta.dirname, 'load.ts'), { env: { LOAD_TARGET: JSON.stringify(target) } });
  const answer = async (): Promise<unknown> => {
    const ended = once(child, 'exit').then(() => {
      throw new Error('The load generator ended; what it says stands above.');
    });
    ended.catch(() => undefined);
    return ((await Promise.race([once(child, 'message'), ended])) as unknown[])[0];
  };
  await answer();
  return {
    pid: child.pid ?? 0,
    run: async (first: number, count: number): Promise<LoadResult> => {
      child.send({ first, count });
      return (await answer()) as LoadResult;
    },
    end: () => child.disconnect(),
  };
}

/** Processor time and resident memory of a process; nothing where there is no /proc. */
async function usageOf(
  pid: number,
): Promise<{ cpuMs: number; residentMiB: number; peakMiB: number } | undefined> {
  try {
    const times = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
    const status = await readFile(`/proc/${pid}/status`, 'utf8');
    const mebibytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
    return {
      cpuMs: ((Number(times[11]) + Number(times[12])) * 1000) / ticksPerSecond,
      residentMiB: mebibytes('VmRSS'),
      peakMiB: mebibytes('VmHWM'),
    };
  } catch {
    return undefined; // Not a Linux: the table then has dashes.
  }
}

const columns = [
  'payments',
  'created/s',
  'median ms',
  'p99 ms',
  'service CPU',
  'load CPU',
  'memory MiB',
  'peak MiB',
];
const printRow = (cells: readonly string[]) =>
  process.stdout.write(
    `${cells.map((cell, index) => cell.padStart((columns[index] ?? '').length + 2)).join('')}\n`,
  );
const whole = (value: number | undefined) =>
  value === undefined ? '–' : Math.round(value).toLocaleString('en');

async function measure({ child, target, databaseFile }: Service, payments: number): Promise<void> {
  const load = await startLoad(target);
  const usage = async () => ({ service: await usageOf(child.pid ?? 0), load: await usageOf(load.pid) });
  const share = (before: number | undefined, after: number | undefined, durationMs: number) =>
    before === undefined || after === undefined ? '–' : `${whole(((after - before) / durationMs) * 100)} %`;
  printRow(columns);
  let done = 0;
  let totalMs = 0;
  for (const end of new Set(steps.map((step) => Math.max(1, Math.round(step * payments))))) {
    const before = await usage();
    const { durationMs, medianMs, p99Ms } = await load.run(done, end - done);
    const after = await usage();
    printRow([
      whole(end),
      whole(((end - done) / durationMs) * 1000),
      medianMs.toFixed(1),
      p99Ms.toFixed(1),
      share(before.service?.cpuMs, after.service?.cpuMs, durationMs),
      share(before.load?.cpuMs, after.load?.cpuMs, durationMs),
      whole(after.service?.residentMiB),
      whole(after.service?.peakMiB),
    ]);
    done = end;
    totalMs += durationMs;
  }
  load.end();
  const { size } = await stat(databaseFile);
  process.stdout.write(
    `All: ${whole((payments / totalMs) * 1000)} created/s over ${connections} connections; the database has ${whole(size / 1024 / 1024)} MiB.\n`,
  );
}

function readPayments(): number {
  const { values } = parseArgs({ options: { payments: { type: 'string' } } });
  const payments = Number(values.payments ?? paymentsDefault);
  if (Number.isSafeInteger(payments) && payments >= 1 && payments <= 10_000_000) return payments;
  throw new RangeError('--payments must be a whole number from 1 to 10000000.');
}

async function main(): Promise<void> {
  const payments = readPayments();
  const dataDir = await mkdtemp(join(tmpdir(), 'bench-payment-service-'));
  let service: Service | undefined;
  try {
    service = await startService(dataDir);
    await measure(service, payments);
  } finally {
    if (service?.child.exitCode === null) {
      const exited = once(service.child, 'exit');
      service.child.kill('SIGTERM');
      await exited;
    }
    await rm(dataDir, { recursive: true, force: true });
  }
}

main().catch((error: unknown) => {
  const isBadCall = error instanceof RangeError || (error instanceof TypeError && 'code' in error);
  process.stderr.write(
    isBadCall ? `${error.message.split('. ')[0]?.replace(/\.?$/, '.')}\n` : `${String(error)}\n`,
  );
  process.exitCode = isBadCall ? 2 : 1;
});
