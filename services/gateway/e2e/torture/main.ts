/**
 * `npm run torture`: the system as users start it, under load, while disasters befall it. Ends with one line for each
 * invariant and arrangement.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Load, captureOrVoidPayment, fund, newLoad, payout, refundedPayment } from '../mixed-load.ts';
import { stopEverything } from '../system.ts';
import type { Arrangement } from './arrangements.ts';
import { type Chance, createChance } from './chance.ts';
import { BadUsage, type Options, readCommandLine, usage } from './command-line.ts';
import { type Finding, compare, reviewCounts } from './comparison.ts';
import { removeDisks } from './disk.ts';
import { stopServers } from './servers.ts';
import { type Counts, torment } from './torment.ts';
import { type Tortured, startTortured } from './tortured.ts';

const healWithinMs = 600_000;
/** A flow whose callback is lost is given up: who waits for an inquiry is no load. What it has made is compared all the same. */
const phaseWithinMs = 5_000;
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

const holds = ({ wrong }: Finding): boolean => wrong.length === 0;

/** Until nothing differs any more that may heal, at most for the time that healing may take. */
async function untilHealed(tortured: Tortured, load: Load): Promise<Finding[]> {
  const giveUpAt = Date.now() + healWithinMs;
  for (;;) {
    const findings = await compare(tortured, load).catch((error: unknown): Finding[] => [
      { invariant: 'it can be compared', count: 1, wrong: [String(error)] },
    ]);
    const isOver = findings.every((finding) => holds(finding) || finding.isFinal === true);
    if (isOver || Date.now() > giveUpAt) return findings;
    await delay(3_000);
  }
}

function tell(name: string, findings: readonly Finding[]): void {
  for (const { invariant, count, wrong } of findings) {
    console.log(`${name}: ${wrong.length === 0 ? 'holds ' : 'BROKEN'} ${invariant} (${count} compared)`);
    for (const each of wrong.slice(0, 10)) console.log(`    ${each}`);
  }
}

/** Loads it while disasters befall it. Gives what they were, and the flows that were given up for them. */
async function loadAndTorment(
  tortured: Tortured,
  load: Load,
  { seed, connections, forMs }: { seed: string; connections: number; forMs: number },
): Promise<{ counts: Counts; givenUp: number }> {
  const { name } = tortured;
  const [counts, startedAt]: [Counts, number] = [new Map(), Date.now()];
  const signal = AbortSignal.timeout(forMs);
  const progress = setInterval(() => {
    const seconds = Math.round((Date.now() - startedAt) / 1_000);
    console.log(
      `${name} ${seconds} s: ${load.answered} answers, ${load.outcomes.length} made; ${inWords(counts)}`,
    );
  }, progressMs);
  try {
    const loading = Array.from({ length: connections }, (_, index) =>
      keepLoading(load, createChance(`${seed}/${name}/flow ${index}`), signal),
    );
    const made = () => load.outcomes.length;
    await torment(tortured, createChance(`${seed}/${name}`), { signal, counts, made });
    const givenUp = (await Promise.all(loading)).reduce((sum, each) => sum + each, 0);
    return { counts, givenUp };
  } finally {
    clearInterval(progress);
  }
}

/** @returns the findings of which each should hold */
async function torture(
  arrangement: Arrangement,
  minutes: number,
  { seed, connections }: Options,
): Promise<Finding[]> {
  const { name } = arrangement;
  const tortured = await startTortured(arrangement, createChance(`${seed}/${name}/which`), minutes);
  const { disasters } = tortured;
  console.log(`${name}: what may befall it: ${disasters.join(', ')}`);
  if (!disasters.includes('disk'))
    console.log(
      `${name}: NOT TRIED: a full disk. This user cannot mount one of limited size; root on Linux can.`,
    );
  const reached = () => tortured.reached();
  await fund(newLoad(reached));
  const load = newLoad(reached, phaseWithinMs);
  const { counts, givenUp } = await loadAndTorment(tortured, load, {
    ...{ seed, connections, forMs: minutes * 60_000 },
  });
  const findings = await untilHealed(tortured, load);
  console.log(
    `${name}: ${load.outcomes.length} made, ${load.answered} answers, ${givenUp} flows given up; ${inWords(counts)}`,
  );
  console.log(`${name}: open reviews: ${inWords(await reviewCounts(tortured)) || 'none'}`);
  tell(name, findings);
  await tortured.end();
  if (!findings.every(holds)) console.log(`${name}: what it printed and wrote is in ${tortured.keep()}`);
  return findings;
}

async function cleanUp(): Promise<void> {
  await stopServers();
  removeDisks();
  await stopEverything();
}

/** One after the other; what could not run is not what holds. */
async function tortureAll(options: Options): Promise<boolean> {
  const closing: string[] = [];
  let isGood = true;
  for (const arrangement of options.arrangements) {
    const minutes = options.minutes / options.arrangements.length;
    const findings = await torture(arrangement, minutes, options).catch((error: unknown): Finding[] => [
      { invariant: `it runs: ${(error as Error).stack ?? String(error)}`, count: 0, wrong: ['it did not'] },
    ]);
    await cleanUp();
    const broken = findings.filter((finding) => !holds(finding)).map(({ invariant }) => invariant);
    isGood &&= broken.length === 0;
    closing.push(
      `${arrangement.name}: ${broken.length === 0 ? `all ${findings.length} hold` : `BROKEN: ${broken.join('; ')}`}`,
    );
  }
  for (const line of closing) console.log(line);
  return isGood;
}

function options(): Options {
  try {
    const read = readCommandLine(process.argv.slice(2), String(Date.now()));
    if (read !== 'help') return read;
    process.stdout.write(usage);
    return process.exit(0);
  } catch (error) {
    if (!(error instanceof BadUsage)) throw error;
    process.stderr.write(`${error.message} --help says more.\n`);
    return process.exit(64);
  }
}

const asked = options();
for (const name of ['SIGINT', 'SIGTERM'] as const)
  process.once(name, () => void cleanUp().finally(() => process.exit(130)));
console.log(`--seed ${asked.seed}`);
process.exit((await tortureAll(asked)) ? 0 : 1);
