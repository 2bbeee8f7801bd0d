/** `npm run simulate`: a campaign over many seeds, or one seed with its story. */
import { writeFileSync } from 'node:fs';
import { type Tally, missedBy, runCampaign } from './campaign.ts';
import { kindsOf, readCommandLine, wholeNumber } from './command-line.ts';
import { runWatched } from './run-watched.ts';
import { runCrashPoints, scenarios } from './crash-points.ts';
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

function report(hasFailed: boolean, message: string, fullName = 'a campaign'): void {
  if (values.outputFile === undefined) return;
  const failed = hasFailed ? 1 : 0;
  const assertionResults = [
    { status: hasFailed ? 'failed' : 'passed', fullName, failureMessages: [message] },
  ];
  const testResults = [
    { name: import.meta.filename, status: hasFailed ? 'failed' : 'passed', assertionResults },
  ];
  writeFileSync(
    values.outputFile,
    JSON.stringify({ numPassedTests: 1 - failed, numFailedTests: failed, testResults }),
  );
}

async function crashPoints(every: number): Promise<number> {
  const minutes = values.minutes === undefined ? Infinity : wholeNumber('minutes', values.minutes);
  const until = performance.now() + minutes * 60_000;
  let printedAt = performance.now();
  const isOver = () => performance.now() >= until;
  const {
    runs,
    scenarios: complete,
    failure,
  } = await runCrashPoints({
    ...{ seed: wholeNumber('from', values.from), every, isOver },
    workers: wholeNumber('workers', values.workers),
    onRun: ({ runs: soFar }) => {
      if (performance.now() - printedAt < 10_000) return;
      printedAt = performance.now();
      console.log(`${soFar} crash points`);
    },
  });
  console.log(
    `${runs} crash points; of ${scenarios.length} scenarios ${complete} were run to their end${isOver() ? ', cut short by the time' : ''}`,
  );
  report(failure !== undefined, failure?.violation.text ?? '', 'crash points');
  if (failure === undefined) return 0;
  const { scenario, crashAt, violation } = failure;
  const { kind, forced } = scenario;
  console.log(
    `${kind} with ${forced.join(', ')}, a crash of ${crashAt.machine} at delivery ${crashAt.delivery}:`,
  );
  console.log(`${violation.invariant}: ${violation.text}`);
  return 1;
}

async function run(): Promise<number> {
  if (values.seed !== undefined) return replay(values.seed);
  const every = values.crashPoints;
  return every === undefined ? campaign() : crashPoints(wholeNumber('crashPoints', every));
}

// Whatever is still waiting in a simulated world waits for nothing real.
process.exit(await run());
