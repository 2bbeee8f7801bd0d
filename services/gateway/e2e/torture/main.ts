/**
 * `npm run torture`: the system as users start it, under load, while processes are killed and stopped, connections are held and
 * cut, and the Payment Service fails. Ends with one line for each invariant.
 */
import { parseArgs } from 'node:util';
import { setTimeout as delay } from 'node:timers/promises';
import { type Load, captureOrVoidPayment, fund, newLoad, payout, refundedPayment } from '../mixed-load.ts';
import { stopEverything } from '../system.ts';
import { type Chance, createChance } from './chance.ts';
import { type Finding, compare, reviewCounts } from './comparison.ts';
import { type Counts, torment } from './torment.ts';
import { type ArrangementName, type Tortured, arrangementNames, startTortured } from './tortured.ts';

const usage = `npm run torture -- [--minutes <n>] [--arrangement <name>] [--seed <text>] [--connections <n>]

Starts the system with a Payment Service that outlives it, loads it, kills and stops its processes, holds and cuts its
connections, and compares gateway, topics, views and ledger in the end. Nothing but loopback and a temporary folder is used.

  --minutes <n>        how long it is tormented, all arrangements together (6)
  --arrangement <name> ${arrangementNames.join(', ')}; all of them, one after the other, unless named
  --seed <text>        decides what befalls it, and when; the machine decides the rest (the time now)
  --connections <n>    flows at once (8)
`;

interface Options {
  minutes: number;
  arrangements: readonly ArrangementName[];
  seed: string;
  connections: number;
}

function refuse(sentence: string): never {
  process.stderr.write(`${sentence} --help says more.\n`);
  process.exit(64);
}

function parse() {
  const { values } = parseArgs({
    options: {
      minutes: { type: 'string', default: '6' },
      arrangement: { type: 'string' },
      seed: { type: 'string', default: String(Date.now()) },
      connections: { type: 'string', default: '8' },
      help: { type: 'boolean', default: false },
    },
  });
  return values;
}

function readArguments(): ReturnType<typeof parse> {
  try {
    return parse();
  } catch (error) {
    return refuse(`${(error as Error).message.split('. ', 1).join('')}.`);
  }
}

function read(): Options {
  const values = readArguments();
  if (values.help) {
    process.stdout.write(usage);
    process.exit(0);
  }
  const [minutes, connections] = [Number(values.minutes), Number(values.connections)];
  if (!(minutes > 0 && minutes <= 10_000)) refuse('--minutes must be a number above 0.');
  if (!(Number.isInteger(connections) && connections >= 1 && connections <= 64))
    refuse('--connections must be a whole number from 1 to 64.');
  const named = arrangementNames.find((name) => name === values.arrangement);
  if (values.arrangement !== undefined && named === undefined)
    refuse(`--arrangement must be one of ${arrangementNames.join(', ')}.`);
  const arrangements = named === undefined ? arrangementNames : [named];
  return { minutes, connections, seed: values.seed, arrangements };
}

const healWithinMs = 300_000;
const progressMs = 10_000;

/** Flows of all kinds until the signal. Gives how many were given up because too little was up at the time. */
async function keepLoading(load: Load, chance: Chance, signal: AbortSignal): Promise<number> {
  let [number, givenUp] = [0, 0];
  const kinds = [
    (flow: string) => refundedPayment(load, `refunded-${flow}`),
    (flow: string) => captureOrVoidPayment(load, `captured-${flow}`, 'confirm'),
    (flow: string) => captureOrVoidPayment(load, `voided-${flow}`, 'decline'),
    (flow: string) => payout(load, `payout-${flow}`),
  ];
  while (!signal.aborted) {
    number += 1;
    await chance
      .pick(kinds)(`${chance.whole(0, 1e9)}-${number}`)
      .catch(() => (givenUp += 1));
  }
  return givenUp;
}

const inWords = (counts: ReadonlyMap<string, number>): string =>
  [...counts].map(([what, count]) => `${what} ${count}`).join(', ');

/** Until nothing differs any more, at most for the time that healing may take. */
async function untilHealed(tortured: Tortured, load: Load): Promise<Finding[]> {
  const giveUpAt = Date.now() + healWithinMs;
  for (;;) {
    const findings = await compare(tortured, load).catch((error: unknown): Finding[] => [
      { invariant: 'it can be compared', count: 1, wrong: [String(error)] },
    ]);
    if (findings.every(({ wrong }) => wrong.length === 0) || Date.now() > giveUpAt) return findings;
    await delay(3_000);
  }
}

function tell(name: ArrangementName, findings: readonly Finding[]): void {
  for (const { invariant, count, wrong } of findings) {
    console.log(`${name}: ${wrong.length === 0 ? 'holds ' : 'BROKEN'} ${invariant} (${count} compared)`);
    for (const each of wrong.slice(0, 10)) console.log(`    ${each}`);
  }
}

/** @returns whether every invariant holds */
async function torture(name: ArrangementName, forMs: number, options: Options): Promise<boolean> {
  const { seed, connections } = options;
  const chance = createChance(`${seed}/${name}`);
  const tortured = await startTortured(name, createChance(`${seed}/${name}/which`));
  const load = newLoad(() => tortured.reached());
  await fund(load);
  const [counts, startedAt]: [Counts, number] = [new Map(), Date.now()];
  const signal = AbortSignal.timeout(forMs);
  const progress = setInterval(() => {
    const seconds = Math.round((Date.now() - startedAt) / 1_000);
    console.log(
      `${name} ${seconds} s: ${load.answered} answers, ${load.outcomes.length} made; ${inWords(counts)}`,
    );
  }, progressMs);
  const loading = Array.from({ length: connections }, (_, index) =>
    keepLoading(load, createChance(`${seed}/${name}/flow ${index}`), signal),
  );
  await torment(tortured, chance, { signal, counts });
  const givenUp = (await Promise.all(loading)).reduce((sum, each) => sum + each, 0);
  clearInterval(progress);
  const findings = await untilHealed(tortured, load);
  console.log(
    `${name}: ${load.outcomes.length} made, ${load.answered} answers, ${givenUp} flows given up; ${inWords(counts)}`,
  );
  console.log(`${name}: open reviews: ${inWords(await reviewCounts(tortured)) || 'none'}`);
  tell(name, findings);
  await tortured.end();
  return findings.every(({ wrong }) => wrong.length === 0);
}

const options = read();
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => void stopEverything().finally(() => process.exit(130)));
console.log(`--seed ${options.seed}`);
const results: boolean[] = [];
try {
  for (const name of options.arrangements)
    results.push(await torture(name, (options.minutes * 60_000) / options.arrangements.length, options));
} finally {
  await stopEverything();
}
process.exit(results.every(Boolean) ? 0 : 1);
