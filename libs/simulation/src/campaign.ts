/** Runs many seeds on all cores until one fails. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Violation } from './checks/invariants.ts';
import { faultKinds } from './faults/faults.ts';
import type { RunResult } from './world.ts';

type Tally = ReturnType<typeof createTally>;

export const createTally = () => ({
  seeds: 0,
  steps: 0,
  simulatedMs: 0,
  operations: 0,
  faults: new Map<string, number>(),
  paths: new Map<string, number>(),
  failure: undefined as { seed: number; violation: Violation } | undefined,
});

const eachOf = (path: string, ...details: readonly string[]) => details.map((detail) => `${path}: ${detail}`);

/** From this number of seeds on, a campaign must have covered every path below; otherwise it proves less than it claims. */
const seedsOfACampaign = 1_000;
const pathsOfACampaign = [
  ...eachOf('review', 'attempt_not_found', 'final_status_revised', 'payout_not_found'),
  ...eachOf('review', 'refund_unresolved', 'unknown_status'),
  ...eachOf('resolved', 'accept_theirs', 'payment_not_made', 'refund_made', 'refund_not_made'),
  ...eachOf('twice at once', '/api/v1/payments', '/api/v1/payouts', '/api/v1/refunds'),
  ...eachOf('a payout was revised to', 'approved', 'declined', 'pending'),
  ...eachOf('an account was closed', 'drain', 'pause'),
  'a backup was restored',
  'a bare service',
  'a dispute was opened',
  'a page of a feed',
  'an existing payment was adopted',
  'a payout was approved',
  'a payout was refused by a second key',
  'a balance was compared',
  'a second person must agree',
  'a webhook to an endpoint',
  'answered 202',
  "another team's payment asked for",
  "another team's recurring token was tried",
  'a recurring token was charged',
  'callback taken',
  'captured and voided at once',
  'forged callback refused',
  'key reused with other terms',
  'paid out',
  'read at least what was read before',
  'repeated after no answer',
  'several refunds at once',
  'the amount of an approved payment was revised',
  'a person guessed',
  'money was transferred',
  'the rules of a team were changed',
  'nothing ran for days',
  'webhook received',
];

/** Runs until a seed fails or all have run. */
export async function runCampaign(
  tally: Tally,
  { from, seeds, workers }: Record<'from' | 'seeds' | 'workers', number>,
): Promise<void> {
  let next = from;
  const takeSeed = () => (tally.failure !== undefined || next >= from + seeds ? undefined : next++);
  await Promise.all(Array.from({ length: workers }, () => runOnWorkers(tally, takeSeed)));
}

type RunReport = Omit<RunResult, 'lines' | 'traceHash'>;

/** Node keeps combined signals, and so each world of a thread, until the thread ends: about 5 MB a seed. */
const seedsPerWorker = 30;

async function runOnWorkers(tally: Tally, takeSeed: () => number | undefined) {
  let seed = takeSeed();
  while (seed !== undefined) {
    const worker = new Worker(new URL('run-watched.ts', import.meta.url));
    for (let count = 0; seed !== undefined && count < seedsPerWorker; count += 1) {
      worker.postMessage(seed);
      const [report] = (await once(worker, 'message')) as [RunReport];
      add(tally, report);
      seed = takeSeed();
    }
    await worker.terminate();
  }
}

function add(tally: Tally, report: RunReport): void {
  const seed = Number(report.seed);
  tally.seeds += 1;
  tally.steps += report.steps;
  tally.simulatedMs += report.simulatedMs;
  tally.operations += report.operations;
  for (const kind of ['faults', 'paths'] as const)
    for (const [name, count] of report[kind]) tally[kind].set(name, (tally[kind].get(name) ?? 0) + count);
  const { violation } = report;
  if (violation !== undefined && seed < (tally.failure?.seed ?? Infinity))
    tally.failure = { seed, violation };
}

/** Faults and paths that no seed of the campaign covered. */
export const missedBy = ({ seeds, faults, paths }: Tally): string[] =>
  seeds < seedsOfACampaign
    ? []
    : [
        ...faultKinds.filter((kind) => !faults.has(kind)),
        ...pathsOfACampaign.filter((path) => !paths.has(path)),
      ];
