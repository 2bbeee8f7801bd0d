/** `npm run simulate`: a campaign over many seeds, or one seed with its story. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { type Tally, missedBy, runCampaign } from './campaign.ts';
import { runWatched } from './run-watched.ts';
import { formatTime } from './world/trace.ts';

const usage = `npm run simulate -- [--seeds <n>] [--from <seed>] [--workers <n>]
npm run simulate -- --seed <seed> [--trace]

Runs the services in a simulated world in which everything fails, and checks every invariant. A seed decides all of it: the same
seed gives the same world. The first failure is printed with the command that replays it. Ends with 1 where one is broken.

  --seeds <n>    how many (100)
  --from <seed>  the first (1)
  --workers <n>  threads (${availableParallelism()})
  --seed <seed>  one seed, with its story
  --trace        the whole story, and not its end
  --brief        prints what happened first as one line of JSON
`;

const options = {
  seeds: { type: 'string', default: '100' },
  from: { type: 'string', default: '1' },
  workers: { type: 'string', default: String(availableParallelism()) },
  seed: { type: 'string' },
  trace: { type: 'boolean', default: false },
  /** Planted bugs are looked for by it. */
  brief: { type: 'boolean', default: false },
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

const values = parse();

function wholeNumber(name: 'seeds' | 'from' | 'workers'): number {
  const value = Number(values[name]);
  if (/^\d+$/.test(values[name]) && Number.isSafeInteger(value)) return value;
  return refuse(`--${name} must be a whole number.`);
}

const sorted = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');

async function replay(seed: string): Promise<number> {
  const { violation, lines, traceHash, steps, simulatedMs, faults } = await runWatched({
    seed,
    isWhole: true,
  });
  if (values.trace) console.log(lines.join('\n'));
  console.log(`seed ${seed}: ${steps} steps, ${formatTime(simulatedMs)} simulated, trace ${traceHash}`);
  console.log(`faults: ${sorted(faults)}`);
  if (violation === undefined) console.log('no violation');
  else console.log(`${violation.invariant} at ${formatTime(violation.atMs)}: ${violation.text}`);
  return violation === undefined ? 0 : 1;
}

async function campaign(): Promise<number> {
  const startedAt = performance.now();
  let printedAt = startedAt;
  const line = ({ seeds, simulatedMs }: Tally): string => {
    const seconds = (performance.now() - startedAt) / 1_000;
    return `${seeds} seeds, ${(seeds / seconds).toFixed(1)}/s, ${(simulatedMs / 3_600_000).toFixed(1)} hours simulated`;
  };
  const tally = await runCampaign({
    from: wholeNumber('from'),
    seeds: wholeNumber('seeds'),
    workers: wholeNumber('workers'),
    onProgress: (so) => {
      if (values.brief || performance.now() - printedAt < 10_000) return;
      printedAt = performance.now();
      console.log(line(so));
    },
  });
  const { failure, seeds } = tally;
  if (values.brief) {
    console.log(JSON.stringify({ seeds, failure }));
    return failure === undefined ? 0 : 1;
  }
  console.log(line(tally));
  console.log(
    `${tally.operations} payments and payouts, ${tally.steps} steps\nfaults: ${sorted(tally.faults)}\npaths: ${sorted(tally.paths)}`,
  );
  const missed = missedBy(tally);
  if (missed.length > 0)
    console.log(`never happened, so that this campaign proves less than it should: ${missed.join(', ')}`);
  if (failure !== undefined) {
    const { seed, violation } = failure;
    console.log(`\nseed ${seed} fails: ${violation.invariant}: ${violation.text}`);
    console.log(`npm run simulate -- --seed ${seed} --trace`);
  }
  return failure !== undefined || missed.length > 0 ? 1 : 0;
}

if (values.help) console.log(usage);
// Whatever is still waiting in a simulated world waits for nothing real.
process.exit(values.help ? 0 : values.seed === undefined ? await campaign() : await replay(values.seed));
