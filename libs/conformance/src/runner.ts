/** Runs tests one after another, each within its time and all within theirs. */
import type { Clock } from './clock.ts';
import { Unmet, type Basis, type ConformanceTest } from './conformance-test.ts';
import type { Peer } from './peer.ts';

export interface TestResult {
  name: string;
  basis: Basis;
  outcome: 'passed' | 'failed' | 'not run';
  durationMs: number;
  /** Why it failed or was not run. */
  reason?: string;
  /** The decision that a specified rule was tested by. */
  relies?: string;
}

export interface RunOptions {
  tests: readonly ConformanceTest[];
  peer: Peer;
  clock: Clock;
  testTimeoutMs: number;
  /** For the whole run; tests that have not begun by then are skipped. */
  totalTimeoutMs: number;
  /** Keys, which must not appear in a report even if the service echoes them. */
  secrets: readonly string[];
  onResult: (result: TestResult) => void;
}

export interface RunSummary {
  results: TestResult[];
  durationMs: number;
  /** The time was over before the last test had begun. */
  isCutShort: boolean;
}

export async function runTests(options: RunOptions): Promise<RunSummary> {
  const { tests, clock, totalTimeoutMs, onResult } = options;
  const startedAt = clock.now();
  const results: TestResult[] = [];
  let isCutShort = false;
  for (const test of tests) {
    const leftMs = startedAt + totalTimeoutMs - clock.now();
    if (leftMs <= 0) isCutShort = true;
    const result =
      leftMs <= 0 ? notRun(test, 'the time for the whole run is over') : await runOne(options, test);
    results.push(result);
    onResult(result);
  }
  return { results, durationMs: clock.now() - startedAt, isCutShort };
}

async function runOne(
  { peer, clock, testTimeoutMs, secrets }: RunOptions,
  test: ConformanceTest,
): Promise<TestResult> {
  const startedAt = clock.now();
  const ending = new AbortController();
  const ended = await Promise.race([
    attempt(test, peer, secrets),
    expire(clock, testTimeoutMs, ending.signal),
  ]);
  ending.abort();
  return { ...about(test), ...ended, durationMs: clock.now() - startedAt };
}

type Ending = Pick<TestResult, 'outcome' | 'reason'>;

async function attempt(test: ConformanceTest, peer: Peer, secrets: readonly string[]): Promise<Ending> {
  try {
    await test.run(peer);
    return { outcome: 'passed' };
  } catch (error) {
    const reason = hideSecrets(error instanceof Error ? error.message : String(error), secrets);
    return { outcome: error instanceof Unmet ? 'not run' : 'failed', reason };
  }
}

export const hideSecrets = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((shown, secret) => shown.replaceAll(secret, '<key>'), text);

/** An abandoned test may still be waiting for an answer, which has a limit too; its outcome no longer counts. */
async function expire(clock: Clock, afterMs: number, signal: AbortSignal): Promise<Ending> {
  await clock.sleep(afterMs, signal).catch(() => undefined); // Rejects when the test has ended before.
  return { outcome: 'failed', reason: `It did not end within ${afterMs / 1000} s.` };
}

const notRun = (test: ConformanceTest, reason: string): TestResult => ({
  ...about(test),
  outcome: 'not run',
  durationMs: 0,
  reason,
});

const about = ({ name, basis, relies }: ConformanceTest) => ({
  name,
  basis,
  ...(relies === undefined ? {} : { relies }),
});
