/** What `npm run simulate` is asked for. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { type FaultKind, faultKinds } from './faults/faults.ts';

const usage = `npm run simulate -- [--seeds <n>] [--from <seed>] [--minutes <n>] [--workers <n>]
npm run simulate -- --seed <seed> [--trace] [--operations <n>] [--without <fault,…>]

Runs the services in a simulated world in which everything fails, and checks every invariant. A seed decides all of it: the same
seed gives the same world. The first failure is shrunk and printed with the command that replays it. Ends with 1 where one is broken.

  --seeds <n>         how many (100; where --minutes is given, as many as there is time for)
  --from <seed>       the first (1)
  --minutes <n>       ends after so long
  --workers <n>       processes beside each other (${availableParallelism()})
  --seed <seed>       one seed, with its story
  --trace             the whole story, and not its end
  --operations <n>    payments and payouts at most
  --without <faults>  leaves them out: ${faultKinds.slice(0, 3).join(', ')}, …
  --brief             prints what happened first as one line of JSON
  --outputFile <file> writes a report in the form of vitest's
`;

const options = {
  /** 100 by default; where `minutes` is given, as many as there is time for. */
  seeds: { type: 'string' },
  from: { type: 'string', default: '1' },
  minutes: { type: 'string' },
  workers: { type: 'string', default: String(availableParallelism()) },
  seed: { type: 'string' },
  trace: { type: 'boolean', default: false },
  operations: { type: 'string' },
  without: { type: 'string' },
  /** Only what happened first, as JSON, as planted bugs are looked for. */
  brief: { type: 'boolean', default: false },
  /** A report in the form of vitest's, for `.ci/run`. */
  outputFile: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const;

function refuse(sentence: string): never {
  console.error(`${sentence} --help says more.`);
  process.exit(64);
}

function parse() {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return refuse(`${(error as Error).message.split('. ', 1).join('').replace(/\.$/, '')}.`);
  }
}

/** Ends the process where help is asked for, or what is given is no option. */
export function readCommandLine() {
  const values = parse();
  if (!values.help) return values;
  console.log(usage);
  return process.exit(0);
}

export function wholeNumber(
  name: 'seeds' | 'from' | 'minutes' | 'workers' | 'operations',
  text: string,
): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  return refuse(`--${name} must be a whole number.`);
}

export function kindsOf(text: string): FaultKind[] {
  const kinds = text.split(',');
  const unknown = kinds.find((kind) => !faultKinds.some((known) => known === kind));
  if (unknown === undefined) return kinds as FaultKind[];
  return refuse(`--without must name kinds of faults, and ${unknown} is none: ${faultKinds.join(', ')}.`);
}
