/** The queue for the permits of one account: first come, first served. */
import type { AccountState } from '@tollgate/payment-domain';
import type { Clock, Log } from '@tollgate/service-kit';
import type { Account, AccountHealth, Permit } from './account.ts';
import { createAccountPermits } from './account-permits.ts';
import { type AccountTerms, type Purpose, createAccountTerms } from './account-terms.ts';

/** Callers that wait before one account at most; more are turned away at once. */
export const waitingMax = 1_000;
/** When operators may have opened it again, seconds: nobody knows. */
export const closedForSeconds = 30;

/** One that waits, maybe in several queues. */
export interface Waiter {
  purpose: Purpose;
  /** Gets the permit; leaves every queue that it is in. */
  take(permit: Permit): void;
  /** Is out of this queue already: the circuit has opened, or operators have closed the account, and waiting is no use. */
  turnedAway(gate: AccountGate): void;
}

export interface AccountGate {
  terms: AccountTerms;
  /** A permit, if the account has one and nobody waits for it. */
  tryPermit(purpose: Purpose): Permit | undefined;
  /** Joins the queue; false where it is full, or no permit can be had by waiting. */
  queue(waiter: Waiter): boolean;
  leave(waiter: Waiter): void;
  /** When asking again may help; at least 1. */
  retryAfterSeconds(purpose: Purpose): number;
  health(): AccountHealth;
  /** What is under way goes on. */
  setState(state: AccountState): void;
  /** The same account under other terms: what is under way counts on. */
  configure(account: Account): void;
}

export function createAccountGate(deps: {
  account: Account;
  clock: Clock;
  log: Log;
  processes: () => number;
}): AccountGate {
  const { clock, processes } = deps;
  const terms = createAccountTerms(deps.account, processes, clock);
  const { closedTo } = terms;
  const permits = createAccountPermits({ ...deps, terms, onRelease: serve });
  const waiting = new Set<Waiter>();
  let alarm: AbortController | undefined;

  function serve(): void {
    for (const waiter of waiting) {
      const permit = permits.take();
      if (permit === undefined) break;
      waiting.delete(waiter);
      waiter.take(permit);
    }
    if (permits.isShut()) turnAway(() => true);
    setAlarm();
  }

  function turnAway(whom: (waiter: Waiter) => boolean): void {
    const turned = [...waiting].filter(whom);
    for (const waiter of turned) waiting.delete(waiter);
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
    terms,
    tryPermit: (purpose) =>
      waiting.size === 0 && closedTo(purpose) === undefined ? permits.take() : undefined,
    queue(waiter) {
      if (waiting.size >= waitingMax || permits.isShut() || closedTo(waiter.purpose) !== undefined)
        return false;
      waiting.add(waiter);
      setAlarm();
      return true;
    },
    leave(waiter) {
      if (waiting.delete(waiter)) setAlarm();
    },
    retryAfterSeconds: (purpose) =>
      closedTo(purpose) === undefined ? permits.retryAfterSeconds() : closedForSeconds,
    health: () => ({ ...permits.health(), state: terms.state(), waiting: waiting.size }),
    setState(next) {
      terms.setState(next);
      turnAway(({ purpose }) => closedTo(purpose) !== undefined);
      setAlarm();
    },
    configure(next) {
      terms.configure(next);
      serve();
    },
  };
  return gate;
}
