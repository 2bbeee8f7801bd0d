/** `npm run bench`: describes the machine, then runs a bench in a process of its own. */
import { spawnSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';

/** Each bench is a program that prints a table, and reads its own options. */
const benches: Readonly<Record<string, string>> = {
  creation: 'services/gateway/bench/creation.ts',
  operations: 'services/gateway/bench/operations.ts',
  'at-size': 'services/gateway/bench/at-size.ts',
  ledger: 'services/cli/bench/ledger.ts',
  webhooks: 'libs/modules/webhooks/bench/webhooks.ts',
};

const usage = `npm run bench -- <bench> [options]

Measures this machine. Benches: ${Object.keys(benches).join(', ')}
  --payments <n>  at-size, ledger, webhooks: number of payments (100000; 1000000; 10000). A few thousand make a quick run
  --seconds <n>   operations: duration of each (4)
  --help          creation: its options
`;

function machineFacts(): string {
  const load = loadavg()
    .map((value) => value.toFixed(1))
    .join(', ');
  const gibibytes = Math.round(totalmem() / 1024 ** 3);
  return `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${gibibytes} GiB, ${process.platform} ${release()}, Node ${process.versions.node}, SQLite ${process.versions.sqlite ?? '?'}
Load of the machine over 1, 5 and 15 minutes before the bench: ${load}
`;
}

function main([name = '--help', ...options]: readonly string[]): number {
  if (name === '--help') {
    process.stdout.write(usage);
    return 0;
  }
  const program = benches[name];
  if (program === undefined) {
    process.stderr.write(`Unknown bench ${JSON.stringify(name)}. See --help.\n`);
    return 2;
  }
  process.stdout.write(`${machineFacts()}\n${name}\n`);
  const argv = [join(import.meta.dirname, '..', program), ...options];
  return spawnSync(process.execPath, argv, { stdio: 'inherit' }).status ?? 1;
}

process.exitCode = main(process.argv.slice(2));
