/**
 * Which request the code that runs now works for, wherever in the process that is: a log line names it, and a call of the
 * Payment Service is counted for it. Nothing is decided by it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from './clock.ts';
import type { Ids } from './ids.ts';

/** What is learnt of a request while it is answered. */
export interface CurrentRequest {
  /** Ours; never what a client sent. Where no request asks for it, what its events are correlated by. */
  id: string;
  /** Whose key came with it. */
  caller?: { environment: string; team: string; keyId: string };
  /** How long calls of the Payment Service took that were made for it, milliseconds. */
  providerMs: number;
}

const storage = new AsyncLocalStorage<CurrentRequest>();

/** Undefined where nothing asked for it: in what a schedule does. */
export const currentRequest = (): CurrentRequest | undefined => storage.getStore();

export const inRequest = (request: CurrentRequest, work: () => void): void => storage.run(request, work);

/** As {@link inRequest} for what is done without one: log lines name what is recorded of it by the same id. */
export const inCause = <Result>(correlationId: string, work: () => Result): Result =>
  storage.getStore() === undefined ? storage.run({ id: correlationId, providerMs: 0 }, work) : work();

/** A clock that was set back by more than this, milliseconds, is believed. */
const setBackMs = 1_000;
const perMillisecondMax = 0xffff;

/**
 * `req_`, the time, a number within the millisecond, and chance: of one process a later id is greater, so that lists by id are
 * lists by time.
 */
export function createRequestIds({
  clock,
  ids,
}: {
  clock: Pick<Clock, 'now'>;
  ids: Pick<Ids, 'uuid'>;
}): () => string {
  let last = { instant: -Infinity, number: 0 };
  const next = () => {
    const now = clock.now();
    const isLater = now > last.instant || now < last.instant - setBackMs;
    if (isLater) return { instant: now, number: 0 };
    if (last.number < perMillisecondMax) return { ...last, number: last.number + 1 };
    return { instant: last.instant + 1, number: 0 };
  };
  return () => {
    last = next();
    // 64 bits of it are chance; Node keeps some ready, which bytes would be asked of the system each time.
    const uuid = ids.uuid();
    const number = last.number.toString(16).padStart(4, '0');
    return `${requestIdFrom(last.instant)}${number}${uuid.slice(0, 8)}${uuid.slice(24, 32)}`;
  };
}

/** No id of a request that came earlier is greater. @param instant milliseconds since the Unix epoch */
export const requestIdFrom = (instant: number): string => `req_${instant.toString(36).padStart(9, '0')}`;

export const isRequestId = (text: unknown): text is string =>
  typeof text === 'string' && /^req_[0-9a-z]{9}[0-9a-f]{20}$/.test(text);

/** When the request came, milliseconds since the Unix epoch. */
export const instantOfRequestId = (id: string): number => Number.parseInt(id.slice(4, 13), 36);
