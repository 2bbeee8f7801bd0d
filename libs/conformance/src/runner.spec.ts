import { describe, expect, it } from 'vitest';
import { createFakeClock } from '@tollgate/testing';
import { Unmet, Violation, section, type ConformanceTest } from './conformance-test.ts';
import type { Peer } from './peer.ts';
import { closingReport, progressLine } from './report.ts';
import { runTests, type TestResult } from './runner.ts';

const { specified, decided } = section(4);
const peer = {} as Peer;

const test = (rule: string, run: () => void | Promise<void>): ConformanceTest =>
  specified(rule, async () => run());

async function run(
  tests: readonly ConformanceTest[],
  options: {
    totalTimeoutMs?: number;
    clock?: ReturnType<typeof createFakeClock>;
  } = {},
) {
  const seen: TestResult[] = [];
  const { totalTimeoutMs = 60_000, clock = createFakeClock() } = options;
  const running = runTests({
    tests,
    peer,
    clock,
    testTimeoutMs: 1_000,
    totalTimeoutMs,
    secrets: ['sk_secret'],
    onResult: (result) => void seen.push(result),
  });
  return { running, seen, clock };
}

const outcomes = (results: readonly TestResult[]) => results.map(({ outcome }) => outcome);

describe('a test', () => {
  it('passes when nothing is thrown, fails by a violation, and is not run by an unmet need', async () => {
    const { running } = await run([
      test('a', () => {}),
      test('b', () => {
        throw new Violation('It should not.');
      }),
      test('c', () => {
        throw new Unmet('needs money');
      }),
      test('d', () => {
        throw new TypeError('a defect of the test');
      }),
    ]);
    const { results } = await running;
    expect(outcomes(results)).toEqual(['passed', 'failed', 'not run', 'failed']);
    expect(results[1]).toMatchObject({ name: '§4 b', basis: 'specification', reason: 'It should not.' });
    expect(results[2]?.reason).toBe('needs money');
  });

  it('never reveals a key, whatever the service repeats', async () => {
    const revealing = test('a', () => {
      throw new Violation('GET /?key=sk_secret was answered HTTP 200 sk_secret');
    });
    const { results } = await (await run([revealing])).running;
    expect(results[0]?.reason).toBe('GET /?key=<key> was answered HTTP 200 <key>');
  });

  it('fails if it does not end in time', async () => {
    const { running, clock } = await run([test('a', () => new Promise(() => {}))]);
    await clock.advance(1_000);
    const { results } = await running;
    expect(results).toMatchObject([{ outcome: 'failed', reason: 'It did not end within 1 s.' }]);
    expect(clock.sleeperCount()).toBe(0);
  });
});

describe('a run', () => {
  it('runs the tests one after another and reports each result at once', async () => {
    const { running, seen } = await run([
      test('runs the tests one after another and reports each result at once', () => {}),
      test('b', () => expect(outcomes(seen)).toEqual(['passed'])),
    ]);
    const { results, isCutShort } = await running;
    expect(outcomes(results)).toEqual(['passed', 'passed']);
    expect(isCutShort).toBe(false);
  });

  it('is cut short when its time is over, and skips the rest', async () => {
    const clock = createFakeClock();
    const tests = [test('a', () => clock.advance(500)), test('b', () => {})];
    const { results, isCutShort } = await (await run(tests, { clock, totalTimeoutMs: 500 })).running;
    expect(outcomes(results)).toEqual(['passed', 'not run']);
    expect(isCutShort).toBe(true);
  });
});

describe('the report', () => {
  it('marks decisions, and reports what a failed rule relied on', async () => {
    const relying = specified('a', 'it is so', async () => {
      throw new Violation('It is not.');
    });
    const { results } = await (await run([relying, decided('b', async () => {})])).running;
    const [first, second] = results.map(progressLine);
    expect(first).toContain('It is not.\n        This relies on a decision: it is so.');
    expect(second).toContain('§4 b (decision)');
  });

  it('counts by section and closes with the totals', () => {
    const result = (name: string, outcome: TestResult['outcome']): TestResult => ({
      name,
      outcome,
      basis: 'specification',
      durationMs: 1,
    });
    const results = [result('§4 a', 'passed'), result('§4 b', 'failed'), result('§5 c', 'not run')];
    const lines = closingReport({ results, durationMs: 1_500, isCutShort: false }).trimEnd().split('\n');
    expect(lines.find((line) => line.startsWith('§4'))).toMatch(/^§4 Endpoints +1 +1 +0$/);
    expect(lines.find((line) => line.startsWith('§5'))).toMatch(/^§5 Authentication +0 +0 +1$/);
    expect(lines.at(-1)).toBe('1 passed, 1 failed, 1 not run');
  });
});
