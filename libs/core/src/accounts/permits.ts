/**
 * Permits of one account, first come, first served. Each needs the operators' consent, a closed circuit, a free place, and
 * a token of the rate.
 */
import type { AccountState } from '../domain/merchant-account/merchant-account.ts';
import { type Clock, type Log, omitUndefined } from '@tollgate/service-kit';
import type { Account, AccountHealth, ClosedState, Permit, PermitEnd, PermitResult } from './account.ts';
import { type BreakerChange, createCircuitBreaker } from './circuit-breaker.ts';
import { type SharedRate, createSharedRate, createTokenBucket } from './rate.ts';
import { startStopwatch } from './stopwatch.ts';

/** Maximum number of callers that wait for one account; more are rejected. */
export const waitingMax = 1_000;
/** Maximum wait for a permit; it holds an HTTP request open. @unit milliseconds */
export const permitWaitMs = 2_000;
/** Retry-After for a closed account; the end of the closure is not known. @unit seconds */
const closedForSeconds = 30;

/** `new`: a payment or payout that the account has not taken yet; `begun`: one that it has. */
export type Purpose = 'new' | 'begun';

/** A waiting caller, possibly in several queues. */
interface Waiter {
  purpose: Purpose;
  /** Receives the permit; leaves all its queues. */
  take(permit: Permit): void;
  /** Removed from this queue: the circuit has opened or the account was closed. */
  turnedAway(gate: AccountGate): void;
}

/** One account in this process. Operators change its terms and its state at run time. */
export interface AccountGate {
  /** The configuration; environment and name never change. */
  account(): Account;
  /** For calls and inquiries together, if the provider counts both. */
  total(): SharedRate | undefined;
  state(): AccountState;
  /** The state that prevents permits for this purpose; undefined if none does. */
  closedTo(purpose: Purpose): ClosedState | undefined;
  /** A permit, if the account has one and no caller waits for it. */
  tryPermit(purpose: Purpose): Permit | undefined;
  /** Joins the queue; false if it is full, or waiting cannot help. */
  queue(waiter: Waiter): boolean;
  leave(waiter: Waiter): void;
  /** When to retry: at the next probe of a failing account. @minimum 1 second */
  retryAfterSeconds(purpose: Purpose): number;
  health(): AccountHealth;
  setState(state: AccountState): void;
  /** The same account under other terms: calls under way still count. */
  configure(account: Account): void;
}

/** The share of one process. A limit smaller than the number of processes applies to each. */
export const shareOf = (limit: number, processes: number): number =>
  Math.max(1, Math.floor(limit / processes));

interface GateDependencies {
  account: Account;
  clock: Clock;
  log: Log;
  processes: () => number;
}

export function createAccountGate(deps: GateDependencies): AccountGate {
  const { clock, processes } = deps;
  const totalOf = ({ totalPerSecondMax }: Account) =>
    totalPerSecondMax === undefined
      ? undefined
      : createSharedRate(() => totalPerSecondMax / processes(), clock);
  let { account } = deps;
  let state: AccountState = 'active';
  let total = totalOf(account);
  const terms = { account: () => account, total: () => total };
  const issuer = createIssuer(deps, terms, serve);
  const waiting = new Set<Waiter>();
  const alarm = createAlarm(clock, serve);

  function closedTo(purpose: Purpose): ClosedState | undefined {
    if (state === 'active') return undefined;
    return state === 'paused' || purpose === 'new' ? state : undefined;
  }
  function serve(): void {
    for (const waiter of waiting) {
      const permit = issuer.take();
      if (permit === undefined) break;
      waiting.delete(waiter);
      waiter.take(permit);
    }
    if (issuer.isShut()) turnAway(() => true);
    setAlarm();
  }
  function turnAway(isTurnedAway: (waiter: Waiter) => boolean): void {
    const turned = [...waiting].filter(isTurnedAway);
    for (const waiter of turned) waiting.delete(waiter);
    for (const waiter of turned) waiter.turnedAway(gate);
  }
  /** A release serves the queue directly. Tokens arrive by time alone, so a timer is set while a caller waits for one. */
  function setAlarm(): void {
    const nextInMs = issuer.nextInMs();
    if (waiting.size === 0) alarm.clear();
    else if (nextInMs !== undefined) alarm.set(Math.max(1, nextInMs));
  }

  const gate: AccountGate = {
    ...terms,
    state: () => state,
    closedTo,
    tryPermit: (purpose) =>
      waiting.size === 0 && closedTo(purpose) === undefined ? issuer.take() : undefined,
    queue(waiter) {
      if (waiting.size >= waitingMax || issuer.isShut() || closedTo(waiter.purpose) !== undefined)
        return false;
      waiting.add(waiter);
      setAlarm();
      return true;
    },
    leave(waiter) {
      if (waiting.delete(waiter)) setAlarm();
    },
    retryAfterSeconds: (purpose) =>
      closedTo(purpose) === undefined ? issuer.retryAfterSeconds() : closedForSeconds,
    health: () => ({ ...issuer.health(), state, waiting: waiting.size }),
    setState(next) {
      state = next;
      turnAway(({ purpose }) => closedTo(purpose) !== undefined);
      setAlarm();
    },
    configure(next) {
      if (next.totalPerSecondMax !== account.totalPerSecondMax) total = totalOf(next);
      account = next;
      serve();
    },
  };
  return gate;
}

/** Fires once, after the first time that was set. */
function createAlarm(clock: Clock, ring: () => void) {
  let pending: AbortController | undefined;
  return {
    set(inMs: number): void {
      if (pending !== undefined) return;
      pending = new AbortController();
      const rung = () => {
        pending = undefined;
        ring();
      };
      clock.sleep(inMs, pending.signal).then(rung, () => undefined);
    },
    clear(): void {
      pending?.abort();
      pending = undefined;
    },
  };
}

/**
 * Issues permits while the circuit, a place and a token allow it; it has no queue. @param onRelease called after each release
 */
function createIssuer(
  { clock, log, processes }: GateDependencies,
  { account, total }: Pick<AccountGate, 'account' | 'total'>,
  onRelease: () => void,
) {
  const { name, environment } = account();
  const breaker = createCircuitBreaker({
    clock,
    failuresMax: () => account().failuresInARowMax,
    onChange: (change) => report(account(), change, log),
  });
  const tokens = createTokenBucket(() => account().callsPerSecondMax / processes(), clock);
  let callsUnderWay = 0;
  const isFull = () => callsUnderWay >= shareOf(account().concurrentCallsMax, processes());

  function tryTakeToken(): boolean {
    if (!tokens.tryTake()) return false;
    if (total()?.tryTakeForCall() !== false) return true;
    tokens.giveBack();
    return false;
  }
  function issue(): Permit {
    callsUnderWay += 1;
    const endCall = breaker.pass();
    const [{ provider }, counted] = [account(), total()];
    let isOut = true;
    function release(end: PermitEnd): void {
      if (!isOut) return;
      isOut = false;
      callsUnderWay -= 1;
      if (end === 'unused') {
        tokens.giveBack();
        counted?.giveBack();
      }
      endCall(end);
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
    // Take the token last, when everything else is available.
    take: () => (breaker.mayPass() && !isFull() && tryTakeToken() ? issue() : undefined),
    /** Neither a place nor a token helps: the account is failing, or a probe is under way. */
    isShut: () => !breaker.mayPass(),
    /** Milliseconds until time alone may bring a permit; undefined if a release must come first. */
    nextInMs: () => (isFull() ? undefined : Math.max(tokens.nextInMs(), total()?.nextForCallInMs() ?? 0)),
    retryAfterSeconds: () => Math.max(1, Math.ceil(breaker.probeInMs() / 1_000)),
    health: () => ({ environment, account: name, breaker: breaker.state(), callsUnderWay }),
  };
}

function report({ name, environment }: Account, change: BreakerChange, log: Log): void {
  if (change.state === 'closed')
    log.info({ account: name }, `the circuit of a ${environment} account is closed: it answers again`);
  else
    log.warn(
      { account: name, waitMs: change.openMs },
      `the circuit of a ${environment} account is open: its calls fail`,
    );
}

/** Waits in the queues of all `gates`, and takes the first permit that becomes available. */
export function waitForAny(
  gates: readonly AccountGate[],
  purpose: Purpose,
  clock: Clock,
): Promise<PermitResult> {
  return new Promise((resolve) => {
    const queues = new Set<AccountGate>();
    const enough = new AbortController();
    function end(result: PermitResult): void {
      for (const gate of queues) gate.leave(waiter);
      enough.abort();
      resolve(result);
    }
    const giveUp = () => end(unavailable(gates, purpose));
    const waiter: Waiter = {
      purpose,
      take: (permit) => end({ kind: 'permit', permit }),
      turnedAway(gate) {
        queues.delete(gate);
        if (queues.size === 0) giveUp();
      },
    };
    for (const gate of gates) if (gate.queue(waiter)) queues.add(gate);
    if (queues.size === 0) return giveUp();
    clock.sleep(permitWaitMs, enough.signal).then(giveUp, () => undefined);
  });
}

export function unavailable(gates: readonly AccountGate[], purpose: Purpose): PermitResult {
  const retryAfterSeconds = Math.min(...gates.map((gate) => gate.retryAfterSeconds(purpose)));
  const states = gates.map((gate) => gate.closedTo(purpose));
  const closed = states.includes(undefined) ? undefined : states[0];
  return { kind: 'unavailable', retryAfterSeconds, ...omitUndefined({ closed }) };
}
