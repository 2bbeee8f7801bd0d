/**
 * `npm run bench -- creation`: compares the gateway with a bare chain of the same steps, alternating, in front of a
 * Payment Service that answers at once. Uses the embedded store and topics, or those that EVENTSTORE_URL and
 * KAFKA_BROKERS name on 127.0.0.1; the bare chain appends to the same store.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseConnectionString } from '@tollgate/event-store';
import { createPayments } from './http-load.ts';
import {
  type GatewayTarget,
  type Target,
  cpuMsOf,
  folder,
  lagWhile,
  median,
  memoryOf,
  rounded,
  say,
  start,
  startBareService,
  startGateway,
  startTestServer,
  stopAll,
  untilShown,
} from './programs.ts';

const usage = `npm run bench -- creation [options]

  --rounds <n>         rounds on each number of connections (3); the medians are shown
  --connections <n,…>  numbers of connections (1,32,128)
  --store <store>      embedded, or eventstoredb: the test server, unless EVENTSTORE_URL names another (embedded)
  --json <file>        also writes the shares to a file
  --against <file>     compares with shares that --json wrote; exit code 1 if a share is less than half of the earlier one
`;

const roundMs = 8_000;
const warmUpMs = 15_000;

interface Options {
  rounds: number;
  connectionCounts: number[];
  store: string;
  json: string | undefined;
  against: string | undefined;
}

const stores = ['embedded', 'eventstoredb'];

function readOptions(): Options {
  try {
    const { values } = parseArgs({
      options: {
        rounds: { type: 'string', default: '3' },
        connections: { type: 'string', default: '1,32,128' },
        store: { type: 'string', default: 'embedded' },
        json: { type: 'string' },
        against: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) {
      process.stdout.write(usage);
      process.exit(0);
    }
    const rounds = Number(values.rounds);
    if (!Number.isSafeInteger(rounds) || rounds < 1 || rounds > 100)
      throw new RangeError('--rounds must be a whole number from 1 to 100.');
    const connectionCounts = values.connections.split(',').map(Number);
    if (!connectionCounts.every((count) => Number.isSafeInteger(count) && count >= 1 && count <= 1_000))
      throw new RangeError('--connections must be whole numbers from 1 to 1000, separated by commas.');
    if (!stores.includes(values.store)) throw new RangeError(`--store must be ${stores.join(' or ')}.`);
    const { store, json, against } = values;
    return { rounds, connectionCounts, store, json, against };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message.split('\n')[0] : ''}\n`);
    process.exit(2);
  }
}

interface Both {
  gateway: GatewayTarget;
  bare: Target;
}

interface Round {
  perSecond: number;
  medianMs: number;
  p99Ms: number;
  /** CPU time of the measured process per creation, milliseconds. */
  cpuMs: number;
}

async function measure(target: Target, connections: number, durationMs: number): Promise<Round> {
  const before = cpuMsOf(target.child);
  const { perSecond, medianMs, p99Ms, count } = await createPayments({ ...target, connections, durationMs });
  return { perSecond, medianMs, p99Ms, cpuMs: (cpuMsOf(target.child) - before) / count };
}

/** Each value is a median of its own. */
const medianOf = (rounds: readonly Round[]): Round => ({
  perSecond: median(rounds.map((round) => round.perSecond)),
  medianMs: median(rounds.map((round) => round.medianMs)),
  p99Ms: median(rounds.map((round) => round.p99Ms)),
  cpuMs: median(rounds.map((round) => round.cpuMs)),
});

interface Comparison {
  connections: number;
  gateway: Round;
  bare: Round;
  share: number;
  /**
   * Maximum lag of views and topics, seconds; and the time until everything could be read after the last round, milliseconds.
   */
  behind: { views: number; topics: number; shownAfterMs: number };
}

async function compare(
  { gateway, bare }: Both,
  { rounds }: Options,
  connections: number,
): Promise<Comparison> {
  const [ours, theirs]: [Round[], Round[]] = [[], []];
  const behind = { views: 0, topics: 0, shownAfterMs: 0 };
  for (let number = 0; number < rounds; number += 1) {
    theirs.push(await measure(bare, connections, roundMs));
    const { result, views, topics } = await lagWhile(gateway, () => measure(gateway, connections, roundMs));
    ours.push(result);
    behind.views = Math.max(behind.views, views);
    behind.topics = Math.max(behind.topics, topics);
    behind.shownAfterMs = Math.max(behind.shownAfterMs, await untilShown(gateway));
  }
  const [one, other] = [medianOf(ours), medianOf(theirs)];
  return { connections, gateway: one, bare: other, share: one.perSecond / other.perSecond, behind };
}

const inMs = ({ medianMs, p99Ms }: Round): string => `${medianMs.toFixed(1)} / ${p99Ms.toFixed(1)} ms`;

function print({ connections, gateway, bare, share, behind }: Comparison): void {
  say(
    `${connections} connections: creations, bare chain, share`,
    `${rounded(gateway.perSecond)}/s, ${rounded(bare.perSecond)}/s, ${share.toFixed(2)}`,
  );
  say('  p50 / p99; bare chain', `${inMs(gateway)}; ${inMs(bare)}`);
  say(
    '  CPU per creation; bare chain; multiple',
    `${gateway.cpuMs.toFixed(2)} ms; ${bare.cpuMs.toFixed(2)} ms; ${(gateway.cpuMs / bare.cpuMs).toFixed(1)}`,
  );
  say(
    '  views, topics behind; all readable after',
    `${behind.views.toFixed(2)} s, ${behind.topics.toFixed(2)} s; ${rounded(behind.shownAfterMs)} ms`,
  );
}

/** The Payment Service, and in front of it the gateway and the bare chain. */
async function startAll({ store }: Options): Promise<Both> {
  const storeUrl =
    process.env['EVENTSTORE_URL'] ?? (store === 'eventstoredb' ? await startTestServer() : undefined);
  const brokers = process.env['KAFKA_BROKERS'];
  const service = await startBareService();
  const storePort =
    storeUrl === undefined ? undefined : parseConnectionString(storeUrl, 'EVENTSTORE_URL').hosts[0]?.port;
  const argument = { ...service, storePort, file: join(folder, 'bare.db') };
  const started = await start('bare-chain.ts', { argv: [JSON.stringify(argument)], ready: '\n' });
  const bare = { ...started, url: started.output.trim(), key: 'none' };
  const env = {
    ...(storeUrl === undefined ? {} : { EVENTSTORE_URL: storeUrl }),
    ...(brokers === undefined ? {} : { KAFKA_BROKERS: brokers }),
  };
  return { gateway: await startGateway({ service, name: 'gateway', env }), bare };
}

/** True if no share has fallen below half of the recorded one; prints the comparison. */
function holds(comparisons: readonly Comparison[], file: string): boolean {
  const { shares } = JSON.parse(readFileSync(file, 'utf8')) as { shares: Record<string, number> };
  let isHalved = false;
  for (const { connections, share } of comparisons) {
    const before = shares[connections];
    if (before === undefined) continue;
    const ratio = share / before;
    isHalved ||= ratio < 0.5;
    const judgement = ratio < 0.5 ? 'HALVED' : ratio < 0.8 ? 'lower: look twice, machines are noisy' : 'held';
    say(
      `${connections} connections: share, recorded`,
      `${share.toFixed(2)}, ${before.toFixed(2)}: ${judgement}`,
    );
  }
  return !isHalved;
}

async function main(): Promise<void> {
  const options = readOptions();
  const { gateway, bare } = await startAll(options);
  // The engine compiles for the first thousands of requests; a running gateway has already done so.
  const warmUp = { connections: 32, durationMs: warmUpMs };
  await createPayments({ ...bare, ...warmUp });
  await createPayments({ ...gateway, ...warmUp });
  const comparisons: Comparison[] = [];
  for (const connections of options.connectionCounts) {
    const comparison = await compare({ gateway, bare }, options, connections);
    print(comparison);
    comparisons.push(comparison);
  }
  const memory = memoryOf(gateway.child);
  say('memory of the gateway: now, at the most', `${rounded(memory.now)}, ${rounded(memory.most)} MiB`);
  const machine = `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown'}, Node ${process.versions.node}`;
  await stopAll();
  const shares = Object.fromEntries(comparisons.map(({ connections, share }) => [connections, share]));
  if (options.json !== undefined)
    writeFileSync(options.json, `${JSON.stringify({ machine, store: options.store, shares }, null, 2)}\n`);
  if (options.against !== undefined && !holds(comparisons, options.against)) process.exitCode = 1;
}

try {
  await main();
} finally {
  await stopAll();
}
