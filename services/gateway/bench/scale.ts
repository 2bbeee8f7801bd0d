/**
 * `npm run bench -- scale`: one, two and three processes of each service on one event store, in front of a Payment Service that
 * answers at once. On a machine whose cores are used up, more processes show their cost and no gain.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { createPayments } from './http-load.ts';
import {
  cpuMsByService,
  rounded,
  say,
  startBareService,
  startServices,
  startTestServer,
  stop,
  stopAll,
} from './programs.ts';

const usage = `npm run bench -- scale [options]

  --instances <n,…>  processes of each service (1,2,3)
  --store <store>    embedded, or eventstoredb: the test server, unless EVENTSTORE_URL names another (embedded)
  --seconds <n>      duration of each measurement (8)
`;

const connections = 32;

interface Options {
  instances: number[];
  store: string;
  durationMs: number;
}

function readOptions(): Options {
  try {
    const { values } = parseArgs({
      options: {
        instances: { type: 'string', default: '1,2,3' },
        store: { type: 'string', default: 'embedded' },
        seconds: { type: 'string', default: '8' },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      process.stdout.write(usage);
      process.exit(0);
    }
    const instances = values.instances.split(',').map(Number);
    if (!instances.every((count) => Number.isSafeInteger(count) && count >= 1 && count <= 8))
      throw new RangeError('--instances must be whole numbers from 1 to 8, separated by commas.');
    if (values.store !== 'embedded' && values.store !== 'eventstoredb')
      throw new RangeError('--store must be embedded or eventstoredb.');
    const seconds = Number(values.seconds);
    if (!(seconds >= 1 && seconds <= 600)) throw new RangeError('--seconds must be from 1 to 600.');
    return { instances, store: values.store, durationMs: seconds * 1_000 };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message.split('\n')[0] : ''}\n`);
    process.exit(2);
  }
}

async function main(): Promise<void> {
  const { instances, store, durationMs } = readOptions();
  const service = await startBareService();
  say('cores', String(availableParallelism()));
  for (const count of instances) {
    const storeUrl =
      process.env['EVENTSTORE_URL'] ??
      (store === 'eventstoredb' ? await startTestServer(`store-${count}`) : undefined);
    const env: Record<string, string> = storeUrl === undefined ? {} : { EVENTSTORE_URL: storeUrl };
    const target = await startServices({ service, name: `services-${count}`, env }, count);
    await createPayments({ ...target, connections, durationMs: durationMs / 2 });
    const before = cpuMsByService(target.child);
    const result = await createPayments({ ...target, connections, durationMs });
    const after = cpuMsByService(target.child);
    say(
      `${count} of each service: creations, p50 / p99`,
      `${rounded(result.perSecond)}/s, ${result.medianMs.toFixed(1)} / ${result.p99Ms.toFixed(1)} ms`,
    );
    const perCreation = [...after].map(([name, cpuMs]) => ({
      name,
      cpuMs: (cpuMs - (before.get(name) ?? 0)) / result.count,
    }));
    const total = perCreation.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
    say('  CPU per creation', `${total.toFixed(2)} ms`);
    for (const { name, cpuMs } of perCreation.toSorted((one, other) => other.cpuMs - one.cpuMs))
      say(`    ${name}`, `${cpuMs.toFixed(2)} ms`);
    await stop(target.child);
  }
}

try {
  await main();
} finally {
  await stopAll();
}
