/** Runs many seeds on all cores until one fails. */
import { Worker } from 'node:worker_threads';
import type { Violation } from './checks/invariants.ts';
import { faultKinds } from './faults/faults.ts';
import type { RunResult } from './world.ts';

export interface Tally {
  seeds: number;
  steps: number;
  simulatedMs: number;
  operations: number;
  faults: Map<string, number>;
  paths: Map<string, number>;
  failure: { seed: number; violation: Violation } | undefined;
}

/** From this number of seeds on, a campaign must have covered every path below; otherwise it proves less than it claims. */
const seedsOfACampaign = 1_000;
const pathsOfACampaign = [
  'a backup was restored',
  'a bare service',
  'a dispute was opened',
  'a page of a feed',
  'an existing payment was adopted',
  'a payout was approved',
  'a payout was refused by a second key',
  'a payout was revised to approved',
  'a payout was revised to declined',
  'a payout was revised to pending',
  'a balance was compared',
  'a second person must agree',
  'an account was closed: drain',
  'an account was closed: pause',
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
  'review: attempt_not_found',
  'review: final_status_revised',
  'review: payout_not_found',
  'review: refund_unresolved',
  'review: unknown_status',
  'several refunds at once',
  'the amount of an approved payment was revised',
  'a person guessed',
  'money was transferred',
  'the rules of a team were changed',
  'nothing ran for days',
  'resolved: accept_theirs',
  'resolved: payment_not_made',
  'resolved: refund_made',
  'resolved: refund_not_made',
  'twice at once: /api/v1/payments',
  'twice at once: /api/v1/payouts',
  'twice at once: /api/v1/refunds',
  'webhook received',
] as const;

/** Runs until a seed fails or all have run. */
export async function runCampaign(
  { from, seeds, workers }: Record<'from' | 'seeds' | 'workers', number>,
  onProgress: (tally: Tally) => void,
): Promise<Tally> {
  const tally: Tally = {
    seeds: 0,
    steps: 0,
    simulatedMs: 0,
    operations: 0,
    faults: new Map(),
    paths: new Map(),
    failure: undefined,
  };
  let next = from;
  const takeSeed = () => (tally.failure !== undefined || next >= from + seeds ? undefined : next++);
  const onReport = (report: RunReport) => {
    add(tally, report);
    onProgress(tally);
  };
  await Promise.all(Array.from({ length: workers }, () => runOnWorker(takeSeed, onReport)));
  return tally;
}

type RunReport = Omit<RunResult, 'lines' | 'traceHash'>;

function runOnWorker(takeSeed: () => number | undefined, onReport: (report: RunReport) => void) {
  const worker = new Worker(new URL('run-watched.ts', import.meta.url));
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const runNext = () => {
    const seed = takeSeed();
    if (seed === undefined) void worker.terminate().then(() => resolve(undefined));
    else worker.postMessage(seed);
  };
  worker.on('error', reject);
  worker.on('message', (report: RunReport) => {
    onReport(report);
    runNext();
  });
  runNext();
  return promise;
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
