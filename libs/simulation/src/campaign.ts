/** Many seeds, on all cores, until one fails. */
import { type FaultKind, faultKinds } from './faults/faults.ts';
import type { Violation } from './checks/invariants.ts';
import { type RunReport, runOnWorkers } from './workers.ts';

export interface CampaignOptions {
  from: number;
  seeds: number;
  workers: number;
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

/** What must not have been missed by a campaign of that many seeds: otherwise it proves less than it says. */
const seedsOfACampaign = 1_000;
const pathsOfACampaign = [
  'a backup was restored',
  'a bare service',
  'a dispute was opened',
  'a list was read to its end',
  'a page of a feed',
  'a payment of before was taken',
  'a payout was approved',
  'a payout was refused by a second key',
  'a payout was revised to approved',
  'a payout was revised to declined',
  'a payout was revised to pending',
  'a position was compared',
  'a second person must agree',
  'an account was closed: drain',
  'an account was closed: pause',
  'a secret of an endpoint was rotated',
  'a webhook to an endpoint',
  'an endpoint was closed for a while',
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
  'nothing ran for days',
  'resolved: accept_theirs',
  'resolved: payment_not_made',
  'resolved: refund_made',
  'resolved: refund_not_made',
  'the same key twice at once',
  'the same refund twice at once',
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
  const takeSeed = () => (tally.failure !== undefined || next >= last ? undefined : next++);
  await runOnWorkers(options.workers, takeSeed, (report) => {
    add(tally, report);
    options.onProgress(tally);
  });
  return tally;
}

function add(
  tally: Tally,
  { seed: given, steps, simulatedMs, operations, faults, paths, violation }: RunReport,
): void {
  const seed = Number(given);
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
