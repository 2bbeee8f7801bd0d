/**
 * Permits of one account. Each needs the operators' consent, a closed circuit, a free place, and a token of the rate. Callers
 * without one wait in a queue, first come, first served.
 */
import {
  type BreakerChange,
  type Clock,
  type Log,
  createCircuitBreaker,
  omitUndefined,
  createTokenBucket,
  startStopwatch,
} from '@tollgate/service-kit';
import {
  type Account,
  type AccountConfig,
  type AccountHealth,
  type AccountState,
  type ClosedState,
  type Permit,
  type PermitEnd,
  type PermitResult,
  type Unavailable,
  breakerEndOf,
} from './account.ts';

/** Maximum number of callers that wait for one account; more are rejected. */
export const waitingMax = 1_000;
/** Maximum wait for a permit; it holds an HTTP request open. @unit milliseconds */
export const permitWaitMs = 2_000;
/** Interval at which the queue looks for new tokens of a rate. @unit milliseconds */
const lookEveryMs = 20;
/** Retry-After for a closed account; the end of the closure is not known. @unit seconds */
const closedForSeconds = 30;

/** `new`: a payment or payout that the account has not taken yet; `begun`: one that it has. */
export type Purpose = 'new' | 'begun';

/** One account in this process. Operators change its terms and its state at run time. */
export type AccountGate<Provider> = ReturnType<typeof createAccountGate<Provider>>;

/** The share of one process. A limit smaller than the number of processes applies to each. */
export const shareOf = (limit: number, processes: number): number =>
  Math.max(1, Math.floor(limit / processes));

export function createAccountGate<Provider>(deps: {
  account: Account<Provider>;
  clock: Clock;
  log: Log;
  processes: () => number;
  /** Called after each release of a permit. */
  onRelease: () => void;
}) {
  const { clock, log, processes, onRelease } = deps;
  const { name, environment } = deps.account;
  let { account } = deps;
  let state: AccountState = 'active';
  let callsUnderWay = 0;
  const breaker = createCircuitBreaker({
    clock,
    failuresMax: () => account.failuresInARowMax,
    onChange: (change) => report(account, change, log),
  });
  const tokens = createTokenBucket(() => account.callsPerSecondMax / processes(), clock);
  const isFull = () => callsUnderWay >= shareOf(account.concurrentCallsMax, processes());

  /** The state that prevents permits for this purpose; undefined if none does. */
  function closedTo(purpose: Purpose): ClosedState | undefined {
    if (state === 'active') return undefined;
    return state === 'paused' || purpose === 'new' ? state : undefined;
  }
  /** False if waiting cannot help: the account is closed or failing, or a probe is under way. */
  const mayHelpLater = (purpose: Purpose) => closedTo(purpose) === undefined && breaker.mayPass();

  function issue(): Permit<Provider> {
    callsUnderWay += 1;
    const endCall = breaker.pass();
    const { provider } = account;
    let isOut = true;
    function release(end: PermitEnd): void {
      if (!isOut) return;
      isOut = false;
      callsUnderWay -= 1;
      if (end === 'unused') tokens.giveBack();
      endCall(breakerEndOf(end));
      onRelease();
    }
    const ageMs = startStopwatch(clock);
    return {
      account: name,
      environment,
      provider,
      ageMs,
      release,
      [Symbol.dispose]: () => release('unused'),
    };
  }

  return {
    /** The configuration; environment and name never change. */
    account: (): Account<Provider> => account,
    state: (): AccountState => state,
    closedTo,
    // Take the token last, when everything else is available.
    tryPermit: (purpose: Purpose): Permit<Provider> | undefined =>
      mayHelpLater(purpose) && !isFull() && tokens.tryTake() ? issue() : undefined,
    mayHelpLater,
    /** When to retry: at the next probe of a failing account. @minimum 1 second */
    retryAfterSeconds: (purpose: Purpose): number =>
      closedTo(purpose) === undefined
        ? Math.max(1, Math.ceil(breaker.probeInMs() / 1_000))
        : closedForSeconds,
    health: (): Omit<AccountHealth, 'waiting'> => ({
      environment,
      account: name,
      state,
      breaker: breaker.state(),
      callsUnderWay,
    }),
    setState: (next: AccountState): void => void (state = next),
    /** The same account under other terms: calls under way still count. */
    configure: (next: Account<Provider>): void => void (account = next),
  };
}

function report({ name, environment }: AccountConfig, change: BreakerChange, log: Log): void {
  if (change.state === 'closed')
    log.info({ account: name }, `the circuit of a ${environment} account is closed: it answers again`);
  else
    log.warn(
      { account: name, waitMs: change.openMs },
      `the circuit of a ${environment} account is open: its calls fail`,
    );
}

interface Waiter<Provider> {
  gates: readonly AccountGate<Provider>[];
  purpose: Purpose;
  /** By the monotonic clock, milliseconds. */
  giveUpAt: number;
  resolve: (result: PermitResult<Provider>) => void;
}

/** One queue for all accounts, because a creation may wait for several. */
export function createPermitQueue<Provider>(clock: Clock) {
  const waiting = new Set<Waiter<Provider>>();
  let isLooking = false;

  /** Serves or rejects waiting callers after a change. @param most ends after this many permits */
  function serve(most = Infinity): void {
    let left = most;
    for (const waiter of waiting) {
      const result = resultFor(waiter, clock.monotonic());
      if (result === undefined) continue;
      waiting.delete(waiter);
      waiter.resolve(result);
      left -= result.kind === 'permit' ? 1 : 0;
      if (left <= 0) break;
    }
    lookLater();
  }
  function lookLater(): void {
    if (waiting.size > 0 && !isLooking) void look();
  }
  /** A release serves the queue directly. Tokens arrive by time alone. */
  async function look(): Promise<void> {
    isLooking = true;
    await clock.sleep(lookEveryMs);
    isLooking = false;
    serve();
  }
  const waitingFor = (gate: AccountGate<Provider>) =>
    [...waiting].filter(({ gates }) => gates.includes(gate)).length;

  return {
    /** The first permit that one of these accounts has, within the wait. */
    enter(
      gates: readonly AccountGate<Provider>[],
      purpose: Purpose,
      waitMs: number,
    ): Promise<PermitResult<Provider>> {
      const now = clock.monotonic();
      const { promise, resolve } = Promise.withResolvers<PermitResult<Provider>>();
      const isRoom = waiting.size < waitingMax || gates.some((gate) => waitingFor(gate) < waitingMax);
      const waiter = { gates, purpose, giveUpAt: now + (isRoom ? waitMs : 0), resolve };
      const isBehind = waiting.values().some((other) => other.gates.some((gate) => gates.includes(gate)));
      const result = isBehind ? rejection(waiter, now) : resultFor(waiter, now);
      if (result !== undefined) return Promise.resolve(result);
      waiting.add(waiter);
      lookLater();
      return promise;
    },
    serve,
    waitingFor,
  };
}

/** Undefined while the caller has to wait. */
function resultFor<Provider>(waiter: Waiter<Provider>, now: number): PermitResult<Provider> | undefined {
  for (const gate of waiter.gates) {
    const permit = gate.tryPermit(waiter.purpose);
    if (permit !== undefined) return { kind: 'permit', permit };
  }
  return rejection(waiter, now);
}

type Waiting = Pick<Waiter<unknown>, 'purpose' | 'giveUpAt'> & {
  gates: readonly Pick<AccountGate<unknown>, 'mayHelpLater' | 'retryAfterSeconds' | 'closedTo'>[];
};

/** Undefined while waiting may help. */
function rejection({ gates, purpose, giveUpAt }: Waiting, now: number): Unavailable | undefined {
  const mayWait = now < giveUpAt && gates.some((gate) => gate.mayHelpLater(purpose));
  return mayWait ? undefined : unavailable(gates, purpose);
}

function unavailable(gates: Waiting['gates'], purpose: Purpose): Unavailable {
  const retryAfterSeconds = Math.min(...gates.map((gate) => gate.retryAfterSeconds(purpose)));
  const states = gates.map((gate) => gate.closedTo(purpose));
  const closed = states.includes(undefined) ? undefined : states[0];
  return { kind: 'unavailable', retryAfterSeconds, ...omitUndefined({ closed }) };
}
