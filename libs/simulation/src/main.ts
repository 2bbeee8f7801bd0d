/** `npm run simulate`: a campaign over many seeds, or one seed with its story. */
import { writeFileSync } from 'node:fs';
import { type Tally, missedBy, runCampaign } from './campaign.ts';
import { kindsOf, readCommandLine, wholeNumber } from './command-line.ts';
import { runWatched } from './run-watched.ts';
import { commandOf, shrink } from './shrink.ts';
import { formatTime } from './world/trace.ts';

const values = readCommandLine();

const sorted = (counts: ReadonlyMap<string, number>): string =>
  [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => `${name} ${count}`)
    .join(', ');

async function replay(seed: string): Promise<number> {
  const { operations, without } = values;
  const options = {
    ...{ seed, isWhole: true },
    ...(operations === undefined ? {} : { operationsMax: wholeNumber('operations', operations) }),
    ...(without === undefined ? {} : { without: kindsOf(without) }),
  };
  const { violation, lines, traceHash, steps, simulatedMs, faults } = await runWatched(options);
  if (values.trace) console.log(lines.join('\n'));
  console.log(`seed ${seed}: ${steps} steps, ${formatTime(simulatedMs)} simulated, trace ${traceHash}`);
  console.log(`faults: ${sorted(faults)}`);
  if (violation === undefined) console.log('no violation');
  else console.log(`${violation.invariant} at ${formatTime(violation.atMs)}: ${violation.text}`);
  return violation === undefined ? 0 : 1;
}

async function tellFailure({ seed, violation }: NonNullable<Tally['failure']>): Promise<void> {
  console.log(`\nseed ${seed} fails: ${violation.invariant}: ${violation.text}\nshrinking it`);
  const first = await runWatched({ seed, isWhole: true });
  const { options, result } = await shrink({ seed }, first);
  console.log(result.lines.join('\n'));
  console.log(`\n${commandOf(options)}`);
}

function seedsWanted(): number {
  if (values.seeds !== undefined) return wholeNumber('seeds', values.seeds);
  return values.minutes === undefined ? 100 : Infinity;
}

async function campaign(): Promise<number> {
  const minutes = values.minutes === undefined ? Infinity : wholeNumber('minutes', values.minutes);
  const startedAt = performance.now();
  const now = () => performance.now();
  let printedAt = startedAt;
  const line = ({ seeds, simulatedMs }: Tally): string => {
    const seconds = (now() - startedAt) / 1_000;
    return `${seeds} seeds, ${(seeds / seconds).toFixed(1)}/s, ${(simulatedMs / 3_600_000).toFixed(1)} hours simulated`;
  };
  const tally = await runCampaign({
    ...{
      from: wholeNumber('from', values.from),
      seeds: seedsWanted(),
    },
    ...{ until: startedAt + minutes * 60_000, workers: wholeNumber('workers', values.workers), now },
    onProgress: (so) => {
      if (values.brief) return;
      if (now() - printedAt < 10_000) return;
      printedAt = now();
      console.log(line(so));
    },
  });
  if (values.brief) {
    console.log(JSON.stringify({ seeds: tally.seeds, failure: tally.failure }));
    return tally.failure === undefined ? 0 : 1;
  }
  console.log(line(tally));
  console.log(
    `${tally.operations} payments and payouts, ${tally.steps} steps\nfaults: ${sorted(tally.faults)}\npaths: ${sorted(tally.paths)}`,
  );
  const missed = missedBy(tally);
  if (missed.length > 0)
    console.log(`never happened, so that this campaign proves less than it should: ${missed.join(', ')}`);
  if (tally.failure !== undefined) await tellFailure(tally.failure);
  const hasFailed = tally.failure !== undefined || missed.length > 0;
  report(hasFailed, tally.failure?.violation.text ?? missed.join(', '));
  return hasFailed ? 1 : 0;
}

function report(hasFailed: boolean, message: string): void {
  if (values.outputFile === undefined) return;
  const failed = hasFailed ? 1 : 0;
  const assertionResults = [
    { status: hasFailed ? 'failed' : 'passed', fullName: 'a campaign', failureMessages: [message] },
  ];
  const testResults = [
    { name: import.meta.filename, status: hasFailed ? 'failed' : 'passed', assertionResults },
  ];
  writeFileSync(
    values.outputFile,
    JSON.stringify({ numPassedTests: 1 - failed, numFailedTests: failed, testResults }),
  );
}

// Whatever is still waiting in a simulated world waits for nothing real.
process.exit(values.seed === undefined ? await campaign() : await replay(values.seed));
