/**
 * The request that the running code works for, anywhere in the process: a log line names it, and a call of the
 * Payment Service is counted for it. Nothing is decided by it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Clock } from './clock.ts';
import type { Ids } from './ids.ts';

/** Facts collected while a request is answered. */
export interface CurrentRequest {
  /** Ours; never a client's. Without a request, the correlation id of its events. */
  id: string;
  /** The owner of its key. */
  caller?: { environment: string; team: string; keyId: string };
  /** Duration of its calls to the Payment Service, milliseconds. */
  providerMs: number;
}

const storage = new AsyncLocalStorage<CurrentRequest>();

/** Undefined without a request, for example in a schedule. */
export const currentRequest = (): CurrentRequest | undefined => storage.getStore();

export const inRequest = (request: CurrentRequest, work: () => void): void => storage.run(request, work);

/** As {@link inRequest} for work without a request: log lines have the correlation id of its events. */
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
    // 64 bits of it are random, from Node's cache of UUIDs: random bytes would need a system call each.
    const uuid = ids.uuid();
    const number = last.number.toString(16).padStart(4, '0');
    return `${requestIdFrom(last.instant)}${number}${uuid.slice(0, 8)}${uuid.slice(24, 32)}`;
  };
}

/** No id of an earlier request is greater. @param instant milliseconds since the Unix epoch */
export const requestIdFrom = (instant: number): string => `req_${instant.toString(36).padStart(9, '0')}`;

export const isRequestId = (text: unknown): text is string =>
  typeof text === 'string' && /^req_[0-9a-z]{9}[0-9a-f]{20}$/.test(text);

/** Time of the request, milliseconds since the Unix epoch. */
export const instantOfRequestId = (id: string): number => Number.parseInt(id.slice(4, 13), 36);
