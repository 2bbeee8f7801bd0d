/** The permits of one account. One of them is three things: the breaker's consent, a place on the wire, a token of the rate. */
import type { Clock, Log } from '@tollgate/service-kit';
import type { Account, AccountHealth, Permit, PermitEnd } from './account.ts';
import { type BreakerChange, createCircuitBreaker } from './circuit-breaker.ts';
import { startStopwatch } from './stopwatch.ts';
import type { AccountTerms } from './account-terms.ts';
import { createTokenBucket } from './token-bucket.ts';

export interface AccountPermits {
  /** A permit, where there is one now. */
  take(): Permit | undefined;
  /** True where no place or token helps: the account is failing, or a probe finds out whether it still is. */
  isShut(): boolean;
  /** Milliseconds until there may be a permit by the passing of time alone; undefined where a release must come first. */
  nextInMs(): number | undefined;
  /** When asking again may help: until the next probe of a failing account, and at least 1. */
  retryAfterSeconds(): number;
  health(): Omit<AccountHealth, 'waiting' | 'state'>;
}

export function createAccountPermits(deps: {
  terms: Pick<AccountTerms, 'account' | 'total'>;
  clock: Clock;
  log: Log;
  /** Processes that share the limits. */
  processes: () => number;
  /** Called after each release. */
  onRelease: () => void;
}): AccountPermits {
  const { clock, log, processes, onRelease } = deps;
  const { account, total } = deps.terms;
  const { name, environment } = account();
  const breaker = createCircuitBreaker({
    clock,
    failuresMax: () => account().failuresInARowMax,
    onChange: (change) => report(account(), change, log),
  });
  const tokens = createTokenBucket(() => account().callsPerSecondMax / processes(), clock);
  let callsUnderWay = 0;

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
    const dispose = () => release('unused');
    const ageMs = startStopwatch(clock);
    return { ...{ account: name, environment, provider, ageMs }, release, [Symbol.dispose]: dispose };
  }
  const isFull = () => callsUnderWay >= shareOf(account().concurrentCallsMax, processes());
  function tryTakeToken(): boolean {
    if (!tokens.tryTake()) return false;
    if (total()?.tryTakeForCall() !== false) return true;
    tokens.giveBack();
    return false;
  }

  return {
    // The token comes last: it is not taken unless everything else is there.
    take: () => (breaker.mayPass() && !isFull() && tryTakeToken() ? issue() : undefined),
    isShut: () => !breaker.mayPass(),
    nextInMs: () => (isFull() ? undefined : Math.max(tokens.nextInMs(), total()?.nextForCallInMs() ?? 0)),
    retryAfterSeconds: () => Math.max(1, Math.ceil(breaker.probeInMs() / 1_000)),
    health: () => ({ environment, account: name, breaker: breaker.state(), callsUnderWay }),
  };
}

/** What one of so many processes may have under way: a limit that is smaller than their number holds for each. */
export const shareOf = (limit: number, processes: number): number =>
  Math.max(1, Math.floor(limit / processes));

function report({ name, environment }: Account, change: BreakerChange, log: Log): void {
  if (change.state === 'closed')
    log.info({ account: name }, `the circuit of a ${environment} account is closed: it answers again`);
  else
    log.warn(
      { account: name, waitMs: change.openMs },
      `the circuit of a ${environment} account is open: its calls fail`,
    );
}
