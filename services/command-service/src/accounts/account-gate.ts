/** The queue for the permits of one account: first come, first served. */
import type { Clock, Log } from '@tollgate/service-kit';
import type { Account, AccountHealth, Permit } from './account.ts';
import { createAccountPermits } from './account-permits.ts';
import { type TokenBucket, createTokenBucket } from './token-bucket.ts';

/** Callers that wait before one account at most; more are turned away at once. */
export const waitingMax = 1_000;

/** One that waits, maybe in several queues. */
export interface Waiter {
  /** Gets the permit; leaves every queue that it is in. */
  take(permit: Permit): void;
  /** Is out of this queue already: the account's circuit has opened, and waiting for it is no use. */
  turnedAway(gate: AccountGate): void;
}

export interface AccountGate {
  account: Account;
  /** Of calls and inquiries together, where the provider counts both. */
  total: TokenBucket | undefined;
  /** A permit, if the account has one and nobody waits for it. */
  tryPermit(): Permit | undefined;
  /** Joins the queue; false where it is full, or no permit can be had by waiting. */
  queue(waiter: Waiter): boolean;
  leave(waiter: Waiter): void;
  /** When asking again may help; at least 1. */
  retryAfterSeconds(): number;
  health(): AccountHealth;
}

export function createAccountGate(deps: {
  account: Account;
  clock: Clock;
  log: Log;
  processes: () => number;
}): AccountGate {
  const { account, clock, processes } = deps;
  const { totalPerSecondMax } = account;
  const total =
    totalPerSecondMax === undefined
      ? undefined
      : createTokenBucket(() => totalPerSecondMax / processes(), clock);
  const permits = createAccountPermits({ ...deps, total, onRelease: serve });
  const waiting = new Set<Waiter>();
  let alarm: AbortController | undefined;

  function serve(): void {
    for (const waiter of waiting) {
      const permit = permits.take();
      if (permit === undefined) break;
      waiting.delete(waiter);
      waiter.take(permit);
    }
    if (permits.isShut()) turnAway();
    setAlarm();
  }

  function turnAway(): void {
    const turned = [...waiting];
    waiting.clear();
    for (const waiter of turned) waiter.turnedAway(gate);
  }

  /**
   * A release serves the queue directly. A token comes by time alone, so an alarm is set while somebody waits for
   * one.
   */
  function setAlarm(): void {
    const nextInMs = permits.nextInMs();
    if (waiting.size === 0) {
      alarm?.abort();
      alarm = undefined;
    } else if (alarm === undefined && nextInMs !== undefined) {
      alarm = new AbortController();
      clock.sleep(Math.max(1, nextInMs), alarm.signal).then(ring, () => undefined);
    }
  }
  function ring(): void {
    alarm = undefined;
    serve();
  }

  const gate: AccountGate = {
    ...{ account, total },
    tryPermit: () => (waiting.size === 0 ? permits.take() : undefined),
    queue(waiter) {
      if (waiting.size >= waitingMax || permits.isShut()) return false;
      waiting.add(waiter);
      setAlarm();
      return true;
    },
    leave(waiter) {
      if (waiting.delete(waiter)) setAlarm();
    },
    retryAfterSeconds: permits.retryAfterSeconds,
    health: () => ({ ...permits.health(), waiting: waiting.size }),
  };
  return gate;
}
