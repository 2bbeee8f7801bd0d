/** Runs the suite against one service: connects everything, and reports why it cannot run. */
import { describe, expectFailure, hasSucceeded, type Answer } from './answers.ts';
import { type CallbackReceiver, startCallbackReceiver } from './callbacks.ts';
import type { Clock } from './clock.ts';
import { Unmet, type Basis, type ConformanceTest } from './conformance-test.ts';
import { NoAnswer, createHttp, type Http } from './http.ts';
import { createPeer, type Peer } from './peer.ts';
import { createSandbox, type Sandbox } from './sandbox.ts';
import { conformanceTests } from './tests/all.ts';

/** Nothing can be tested, and the message gives the reason. */
export class CannotRun extends Error {}

/** As the command line names them. Addresses have no trailing slash. */
export interface SuiteOptions {
  baseUrl: string;
  key: string;
  /** File with the authority of the service's certificate. */
  ca?: string;
  httpUrl?: string;
  otherKey?: string;
  currency: string;
  idempotencyKeys?: boolean;
  /** Use the sandbox controls at the base URL. */
  sandbox?: boolean;
  sandboxUrl?: string;
  sandboxKey?: string;
  moveClock?: boolean;
  callbackHost: string;
  /** False if callbacks cannot reach this machine. */
  callbacks: boolean;
  only?: Basis;
  /** Parts of names; a test must have one of them. */
  grep?: readonly string[];
  /** Parts of names; tests with one of them are skipped. */
  skip?: readonly string[];
  /** @unit seconds */
  patience: number;
}

export interface SuiteDeps {
  clock: Clock;
  newName: () => string;
  onResult: (result: TestResult) => void;
  /** Changes what the suite exchanges with the service, for specs of the suite itself. */
  disguise?: {
    http(http: Http): Http;
    callbacks(callbacks: CallbackReceiver): CallbackReceiver;
  };
}

export interface TestResult extends Pick<ConformanceTest, 'name' | 'basis' | 'relies'> {
  outcome: 'passed' | 'failed' | 'not run';
  durationMs: number;
  /** Why it failed or was not run. */
  reason?: string;
}

const callTimeoutMs = 15_000;

/** @throws CannotRun if no test can be run */
export async function runSuite(asked: SuiteOptions, deps: SuiteDeps): Promise<TestResult[]> {
  const tests = selectTests(asked);
  if (tests.length === 0)
    throw new CannotRun('No test has such a name: libs/conformance/sentences.md lists them.');
  const { disguise } = deps;
  const opened = openHttp(asked.ca);
  const http = disguise?.http(opened) ?? opened;
  const receiver = asked.callbacks ? await openCallbacks(asked.callbackHost) : undefined;
  const callbacks = receiver && (disguise?.callbacks(receiver) ?? receiver);
  try {
    const patienceMs = asked.patience * 1_000;
    const sandbox = connectSandbox(asked, { http, clock: deps.clock, patienceMs });
    const httpUrl = asked.httpUrl ?? (asked.baseUrl.startsWith('http:') ? asked.baseUrl : undefined);
    const peer = createPeer({ ...asked, httpUrl, patienceMs }, { ...deps, http, sandbox, callbacks });
    await requireService(peer, asked.baseUrl);
    const secrets = [asked.key, asked.otherKey, asked.sandboxKey].filter((key) => key !== undefined);
    return await runTests(tests, peer, { ...deps, secrets });
  } finally {
    await callbacks?.close();
    await http.close();
  }
}

const selectTests = ({ only, grep, skip = [] }: SuiteOptions): ConformanceTest[] =>
  conformanceTests.filter(
    ({ name, basis }) =>
      (only === undefined || basis === only) &&
      (grep === undefined || grep.some((part) => name.includes(part))) &&
      !skip.some((part) => name.includes(part)),
  );

/**
 * Runs tests one after another.
 *
 * @param deps.secrets keys, which must not appear in a report even if the service echoes them
 */
async function runTests(
  tests: readonly ConformanceTest[],
  peer: Peer,
  { clock, secrets, onResult }: Pick<SuiteDeps, 'clock' | 'onResult'> & { secrets: readonly string[] },
): Promise<TestResult[]> {
  const results: TestResult[] = [];
  for (const { run, ...test } of tests) {
    const startedAt = clock.now();
    const ending = await run(peer).then(
      () => ({ outcome: 'passed' as const }),
      (error: unknown) => ({
        outcome: error instanceof Unmet ? ('not run' as const) : ('failed' as const),
        reason: hideSecrets(error instanceof Error ? error.message : String(error), secrets),
      }),
    );
    const result = { ...test, ...ending, durationMs: clock.now() - startedAt };
    results.push(result);
    onResult(result);
  }
  return results;
}

const hideSecrets = (text: string, secrets: readonly string[]): string =>
  secrets.reduce((shown, secret) => shown.replaceAll(secret, '<key>'), text);

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
  { baseUrl, sandbox, sandboxUrl, moveClock: mayMoveClock = false, ...keys }: SuiteOptions,
  deps: { http: Http; clock: Clock; patienceMs: number },
): Sandbox | undefined {
  const url = sandboxUrl ?? (sandbox ? baseUrl : undefined);
  if (url === undefined) return undefined;
  const key = sandboxUrl === undefined ? keys.key : keys.sandboxKey;
  const authorization = { authorization: `Bearer ${key}` };
  return createSandbox({
    ...deps,
    isElsewhere: url !== baseUrl,
    mayMoveClock,
    call: (method, path, body) =>
      deps.http.send({
        method,
        url: `${url}${path}`,
        headers:
          body === undefined ? authorization : { ...authorization, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
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
