/** `npm run simulate`: a campaign over many seeds, or one seed with its trace. */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { createTally, missedBy, runCampaign } from './campaign.ts';
import { runWatched } from './run-watched.ts';
import { formatTime } from './world/scheduler.ts';

const usage = `npm run simulate -- [--seeds <n>] [--from <seed>] [--workers <n>]
npm run simulate -- --seed <seed> [--trace]

Runs the services in a simulated world with faults, and checks every invariant. Runs are deterministic: a seed determines every
fault and every step. Prints the first failure with the command that replays it. Exit code 1 if an invariant is violated.

  --seeds <n>    number of seeds (100)
  --from <seed>  first seed (1)
  --workers <n>  threads (${availableParallelism()})
  --seed <seed>  runs one seed and prints its faults and its result
  --trace        also prints the trace of that seed
`;

function parse() {
  try {
    return parseArgs({
      options: {
        seeds: { type: 'string', default: '100' },
        from: { type: 'string', default: '1' },
        workers: { type: 'string', default: String(availableParallelism()) },
        seed: { type: 'string' },
        trace: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    }).values;
  } catch (error) {
    console.error((error as Error).message, 'See --help.');
    process.exit(64);
  }
}

const values = parse();

function wholeNumber(name: 'seeds' | 'from' | 'workers'): number {
  if (/^\d{1,15}$/.test(values[name])) return Number(values[name]);
  console.error(`--${name} must be a whole number. See --help.`);
  process.exit(64);
}

const sorted = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .map(([name, count]) => `${name} ${count}`)
    .toSorted()
    .join(', ');

async function replay(seed: string): Promise<number> {
  const { violation, lines, traceHash, steps, simulatedMs, faults } = await runWatched(seed);
  if (values.trace) console.log(lines.join('\n'));
  console.log(`seed ${seed}: ${steps} steps, ${formatTime(simulatedMs)} simulated, trace ${traceHash}`);
  console.log(`faults: ${sorted(faults)}`);
  if (violation === undefined) console.log('no violation');
  else console.log(`${violation.invariant} at ${formatTime(violation.atMs)}: ${violation.text}`);
  return violation === undefined ? 0 : 1;
}

async function campaign(): Promise<number> {
  const startedAt = performance.now();
  const tally = createTally();
  const print = (): void => {
    const { seeds, simulatedMs } = tally;
    const seconds = (performance.now() - startedAt) / 1_000;
    const hours = (simulatedMs / 3_600_000).toFixed(1);
    console.log(`${seeds} seeds, ${(seeds / seconds).toFixed(1)}/s, ${hours} hours simulated`);
  };
  setInterval(print, 10_000);
  const [from, seeds, workers] = [wholeNumber('from'), wholeNumber('seeds'), wholeNumber('workers')];
  await runCampaign(tally, { from, seeds, workers });
  print();
  console.log(`${tally.operations} payments and payouts, ${tally.steps} steps`);
  console.log(`faults: ${sorted(tally.faults)}\npaths: ${sorted(tally.paths)}`);
  const missed = missedBy(tally);
  if (missed.length > 0)
    console.log(`These paths were not covered, so this campaign proves too little: ${missed.join(', ')}`);
  const { failure } = tally;
  if (failure !== undefined) {
    console.log(`\nseed ${failure.seed} fails: ${failure.violation.invariant}: ${failure.violation.text}`);
    console.log(`npm run simulate -- --seed ${failure.seed} --trace`);
  }
  return failure !== undefined || missed.length > 0 ? 1 : 0;
}

if (values.help) console.log(usage);
// Pending timers of a simulated world wait for nothing real.
process.exit(values.help ? 0 : values.seed === undefined ? await campaign() : await replay(values.seed));
