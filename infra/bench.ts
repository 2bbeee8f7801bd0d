/** `npm run bench`: describes the machine, then runs the named benches, or all, each in its own process. */
import { spawnSync } from 'node:child_process';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';

/** Each bench is a program that prints a table. All except those with their own options accept `--payments <n>`. */
const benches: Readonly<Record<string, string>> = {
  creation: 'services/gateway/bench/creation.ts',
  operations: 'services/gateway/bench/operations.ts',
  'at-size': 'services/gateway/bench/at-size.ts',
  ledger: 'services/cli/bench/ledger.ts',
  webhooks: 'libs/modules/webhooks/bench/webhooks.ts',
};

const withOwnOptions = ['creation', 'operations'];

const usage = `npm run bench -- [bench …] [--payments <n>]

Measures this machine. Benches (all, unless some are named): ${Object.keys(benches).join(', ')}
  --payments <n>  number of payments (100000; ledger 1000000). A few thousand make a quick run
\`creation\` has its own options: see \`npm run bench -- creation --help\`. \`operations\` has --seconds <n>.
`;

type Call = { names: string[]; options: string[] } | { problem: string };

function read(argv: readonly string[]): Call {
  const names: string[] = [];
  for (const [index, argument] of argv.entries()) {
    if (argument.startsWith('-')) return withOptions(names, argv.slice(index));
    if (!Object.hasOwn(benches, argument))
      return { problem: `Unknown bench ${JSON.stringify(argument)}. See --help.` };
    names.push(argument);
  }
  return { names, options: [] };
}

function withOptions(names: string[], options: string[]): Call {
  if (names.some((name) => withOwnOptions.includes(name))) return { names, options };
  const [option, value = '', ...more] = options;
  const unknown = option === '--payments' ? more[0] : option;
  if (unknown !== undefined) return { problem: `Unknown option ${unknown}. See --help.` };
  if (/^[1-9]\d{0,6}$/.test(value)) return { names, options };
  return { problem: '--payments must be a whole number from 1 to 9999999.' };
}

function machineFacts(): string {
  const load = loadavg()
    .map((value) => value.toFixed(1))
    .join(', ');
  const gibibytes = Math.round(totalmem() / 1024 ** 3);
  return `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}, ${gibibytes} GiB, ${process.platform} ${release()}, Node ${process.versions.node}, SQLite ${process.versions.sqlite ?? '?'}
Load of the machine over 1, 5 and 15 minutes before the bench: ${load}
`;
}

function main(argv: readonly string[]): number {
  if (argv[0] === '--help') {
    process.stdout.write(usage);
    return 0;
  }
  const call = read(argv);
  if ('problem' in call) {
    process.stderr.write(`${call.problem}\n`);
    return 2;
  }
  const names = call.names.length > 0 ? call.names : Object.keys(benches);
  process.stdout.write(machineFacts());
  for (const name of names) {
    process.stdout.write(`\n${name}\n`);
    const program = join(import.meta.dirname, '..', benches[name] ?? '');
    const { status } = spawnSync(
      process.execPath,
      [program, ...(withOwnOptions.includes(name) && call.names.length === 0 ? [] : call.options)],
      { stdio: 'inherit' },
    );
    if (status !== 0) return status ?? 1;
  }
  return 0;
}

process.exitCode = main(process.argv.slice(2));
