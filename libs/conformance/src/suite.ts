/** Runs the suite against one service: connects everything, and reports why it cannot run. */
import { describe, expectFailure, hasSucceeded, type Answer } from './answers.ts';
import type { Arguments, Selection } from './arguments.ts';
import { startCallbackReceiver } from './callbacks.ts';
import type { Clock } from './clock.ts';
import type { ConformanceTest } from './conformance-test.ts';
import { NoAnswer, createHttp, type Http } from './http.ts';
import { createPeer, type Peer } from './peer.ts';
import { hideSecrets, runTests, type RunSummary, type TestResult } from './runner.ts';
import { createSandbox, type Sandbox } from './sandbox.ts';
import { conformanceTests } from './tests/all.ts';

/** Nothing can be tested, and the message gives the reason. */
export class CannotRun extends Error {}

export interface SuiteDeps {
  clock: Clock;
  newName: () => string;
  onResult: (result: TestResult) => void;
}

const callTimeoutMs = 15_000;
const testTimeoutMs = 60_000;

export const selectTests = ({ only, grep = [], skip = [] }: Selection): ConformanceTest[] =>
  conformanceTests.filter(
    ({ name, basis }) =>
      (only === undefined || basis === only) &&
      (grep.length === 0 || grep.some((part) => name.includes(part))) &&
      !skip.some((part) => name.includes(part)),
  );

/** @throws CannotRun if no test can be run */
export async function runSuite(asked: Arguments, deps: SuiteDeps): Promise<RunSummary> {
  const { clock, newName, onResult } = deps;
  const tests = selectTests(asked);
  if (tests.length === 0) throw new CannotRun('No test has such a name: --list shows them all.');
  const http = openHttp(asked.ca);
  const callbacks = asked.callbackHost === undefined ? undefined : await openCallbacks(asked.callbackHost);
  try {
    const sandbox = connectSandbox(asked, { http, clock });
    const peer = createPeer(asked, { http, clock, newName, sandbox, callbacks });
    await requireService(peer, asked.baseUrl);
    const secrets = [asked.key, asked.otherKey, asked.sandbox?.key].filter((key) => key !== undefined);
    const { totalTimeoutMs } = asked;
    const limits = { testTimeoutMs: Math.max(testTimeoutMs, 3 * asked.patienceMs), totalTimeoutMs };
    return await runTests({ tests, peer, clock, secrets, ...limits, onResult });
  } finally {
    await callbacks?.close();
    await http.close();
  }
}

function openHttp(caFile: string | undefined): Http {
  try {
    return createHttp({ caFile, callTimeoutMs });
  } catch (error) {
    throw new CannotRun(`--ca cannot be read (${(error as Error).message}).`);
  }
}

async function openCallbacks(host: string) {
  try {
    return await startCallbackReceiver(host);
  } catch (error) {
    throw new CannotRun(`--callback-host ${host} cannot be listened on (${(error as Error).message}).`);
  }
}

function connectSandbox(
  { sandbox, patienceMs }: Arguments,
  { http, clock }: { http: Http; clock: Clock },
): Sandbox | undefined {
  if (sandbox === undefined) return undefined;
  const { url, key, isElsewhere, mayMoveClock } = sandbox;
  const authorization = `Bearer ${key}`;
  return createSandbox({
    isElsewhere,
    mayMoveClock,
    clock,
    patienceMs,
    call: (method, path, body) =>
      body === undefined
        ? http.send({ method, url: `${url}${path}`, headers: { authorization } })
        : http.send({
            method,
            url: `${url}${path}`,
            headers: { authorization, 'content-type': 'application/json' },
            body: JSON.stringify(body),
          }),
  });
}

/** A first call, so that a wrong address or key is reported once and not by every test. */
async function requireService({ call, key }: Peer, baseUrl: string): Promise<void> {
  let answer: Answer;
  try {
    answer = await call('GET', '/api/v1/payments');
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    throw new CannotRun(whyUnreachable(error.code, baseUrl));
  }
  if (hasSucceeded(answer) || !isKeyRejected(answer)) return;
  const evidence = hideSecrets(describe(answer), [key]);
  throw new CannotRun(`The service at --base-url ${baseUrl} rejects the key of --key; ${evidence}`);
}

function whyUnreachable(code: string, baseUrl: string): string {
  if (/CERT|SIGNATURE|ISSUER|SELF_SIGNED/.test(code))
    return `The certificate of --base-url ${baseUrl} cannot be verified (${code}): give its authority with --ca.`;
  return `Nothing answers at --base-url ${baseUrl} (${code}): is the service running there?`;
}

function isKeyRejected(answer: Answer): boolean {
  try {
    return expectFailure(answer).every(({ kind }) => kind === 'authentication_error');
  } catch {
    return false; // An answer of another kind is for the tests to judge.
  }
}
