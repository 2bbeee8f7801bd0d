import { createFakeClock } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { Unmet, Violation, section } from './conformance-test.ts';
import type { Peer } from './peer.ts';
import { type TestResult, runTests } from './suite.ts';

const { specified } = section(4);
const test = (rule: string, run: () => void) => specified(rule, async () => run());

const run = (tests: Parameters<typeof runTests>[0], onResult: (result: TestResult) => void = () => {}) =>
  runTests(tests, {} as Peer, { clock: createFakeClock(), secrets: ['sk_secret'], onResult });

const failWith = (error: Error) => () => {
  throw error;
};

it('passes when nothing is thrown, fails by a violation, and is not run by an unmet need', async () => {
  const results = await run([
    test('a', () => {}),
    test('b', failWith(new Violation('It should not.'))),
    test('c', failWith(new Unmet('needs money'))),
    test('d', failWith(new TypeError('a defect of the test'))),
  ]);
  expect(results.map(({ outcome }) => outcome)).toEqual(['passed', 'failed', 'not run', 'failed']);
  expect(results[1]).toMatchObject({ name: '§4 b', basis: 'specification', reason: 'It should not.' });
  expect(results[2]?.reason).toBe('needs money');
});

it('never reveals a key, whatever the service repeats', async () => {
  const [result] = await run([
    test('a', failWith(new Violation('GET /?key=sk_secret was answered sk_secret'))),
  ]);
  expect(result?.reason).toBe('GET /?key=<key> was answered <key>');
});

it('runs the tests one after another and reports each result at once', async () => {
  const seen: string[] = [];
  const tests = [test('a', () => {}), test('b', () => expect(seen).toEqual(['passed']))];
  const results = await run(tests, ({ outcome }) => void seen.push(outcome));
  expect(results.map(({ outcome }) => outcome)).toEqual(['passed', 'passed']);
});
