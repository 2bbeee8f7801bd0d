/** Many seeds, on all cores, until one fails or the time is over. */
import { Worker } from 'node:worker_threads';
import { type FaultKind, faultKinds } from './faults.ts';
import type { Violation } from './invariants.ts';

export interface CampaignOptions {
  from: number;
  /** Infinity where only the time ends it. */
  seeds: number;
  /** When to begin no more seeds, milliseconds on `performance.now()`. */
  until: number;
  workers: number;
  now: () => number;
  onProgress: (tally: Tally) => void;
}

export interface Tally {
  seeds: number;
  steps: number;
  simulatedMs: number;
  operations: number;
  faults: Map<string, number>;
  paths: Map<string, number>;
  failure: { seed: number; violation: Violation } | undefined;
}

/** What a worker tells of a seed. */
export interface SeedReport {
  seed: number;
  steps: number;
  simulatedMs: number;
  operations: number;
  faults: ReadonlyMap<string, number>;
  paths: ReadonlyMap<string, number>;
  violation: Violation | undefined;
}

/** What must not have been missed by a campaign of that many seeds: otherwise it proves less than it says. */
const seedsOfACampaign = 1_000;
const pathsOfACampaign = [
  'answered 202',
  "another team's payment asked for",
  'callback taken',
  'captured and voided at once',
  'forged callback refused',
  'key reused with other terms',
  'paid out',
  'repeated after no answer',
  'review: attempt_not_found',
  'review: final_status_revised',
  'review: payout_not_found',
  'review: refund_unresolved',
  'several refunds at once',
  'the same key twice at once',
  'webhook received',
] as const;

export async function runCampaign(options: CampaignOptions): Promise<Tally> {
  const tally: Tally = {
    seeds: 0,
    steps: 0,
    simulatedMs: 0,
    operations: 0,
    faults: new Map(),
    paths: new Map(),
    failure: undefined,
  };
  const last = options.from + options.seeds;
  let next = options.from;
  const takeSeed = (): number | undefined => {
    const isOver = tally.failure !== undefined || next >= last || options.now() >= options.until;
    return isOver ? undefined : next++;
  };
  await Promise.all(
    Array.from({ length: options.workers }, () =>
      runWorker(takeSeed, (report) => {
        add(tally, report);
        options.onProgress(tally);
      }),
    ),
  );
  return tally;
}

function runWorker(
  takeSeed: () => number | undefined,
  onReport: (report: SeedReport) => void,
): Promise<void> {
  const worker = new Worker(new URL('./seed-worker.ts', import.meta.url));
  return new Promise((resolve, reject) => {
    const go = () => {
      const seed = takeSeed();
      if (seed === undefined) void worker.terminate().then(() => resolve());
      else worker.postMessage(seed);
    };
    worker.on('error', reject);
    worker.on('message', (report: SeedReport) => {
      onReport(report);
      go();
    });
    go();
  });
}

function add(
  tally: Tally,
  { seed, steps, simulatedMs, operations, faults, paths, violation }: SeedReport,
): void {
  tally.seeds += 1;
  tally.steps += steps;
  tally.simulatedMs += simulatedMs;
  tally.operations += operations;
  for (const [into, from] of [
    [tally.faults, faults],
    [tally.paths, paths],
  ] as const)
    for (const [name, count] of from) into.set(name, (into.get(name) ?? 0) + count);
  const isFirst = tally.failure === undefined || seed < tally.failure.seed;
  if (violation !== undefined && isFirst) tally.failure = { seed, violation };
}

/** Faults and paths that a whole campaign has missed. */
export const missedBy = ({ seeds, faults, paths }: Tally): string[] =>
  seeds < seedsOfACampaign
    ? []
    : [
        ...faultKinds.filter((kind: FaultKind) => !faults.has(kind)),
        ...pathsOfACampaign.filter((path) => !paths.has(path)),
      ];
