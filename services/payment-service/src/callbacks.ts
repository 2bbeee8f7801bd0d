/** Status callbacks (specification, section 6): content, queue and delivery. */
import type { CallbackBody } from '@tollgate/payment-api';
import { omitUndefined, type Clock, type Log } from '@tollgate/service-kit';
import { rootCertificates } from 'node:tls';
import { Agent, request } from 'undici';
import { createDueLoop } from './due-loop.ts';
import type { QueueFault, TakenFault } from './faults.ts';
import type { Payment } from './payments.ts';
import type { Database } from './storage/database.ts';
import type { Callback, Tables } from './storage/tables.ts';

const second = 1_000;
const minute = 60 * second;

/**
 * Pauses before the second to the ninth attempt. With nine attempts of ten seconds each, the last one ends within an
 * hour of the status change.
 */
export const retryPausesMs: readonly number[] = [
  5 * second,
  15 * second,
  30 * second,
  minute,
  2 * minute,
  5 * minute,
  15 * minute,
  30 * minute,
];
/** An attempt without an answer by then has failed. @unit milliseconds */
export const tryTimeoutMs = 10 * second;
const concurrentTriesMax = 32;
/** More than the concurrency limit, because callbacks of payments with a delivery in progress are skipped. */
const dueRowsMax = 4 * concurrentTriesMax;

/** Posts JSON and returns the HTTP status of the answer; rejects if there is none. */
export type PostJson = (url: string, body: string, signal: AbortSignal) => Promise<number>;

/** Content and address of a callback. */
export interface Notice {
  merchantId: number;
  callbackUrl: string;
  body: CallbackBody & { token: string };
}

/**
 * The content of a callback about a payment, refund, payout or dispute. For a dispute, the token is that of its
 * payment.
 */
interface Subject extends Pick<Payment, 'merchantId' | 'token' | 'orderNumber' | 'amount' | 'currency'> {
  status: CallbackBody['status'];
  recurringToken?: string | undefined;
  sanitizedMask?: string | undefined;
  declineReason?: string | undefined;
}

/** The callback for the subject's current state. */
export function toNotice(type: CallbackBody['type'], subject: Subject, callbackUrl: string): Notice {
  const { merchantId, token, status, orderNumber = null, amount, currency } = subject;
  const { recurringToken, sanitizedMask, declineReason } = subject;
  const optional = omitUndefined({ recurringToken, sanitizedMask, declineReason });
  return {
    merchantId,
    callbackUrl,
    body: { token, type, status, orderNumber, amount, currency, ...optional },
  };
}

export const paymentNotice = (payment: Payment): Notice => toNotice('payment', payment, payment.callbackUrl);

/** Queues a callback, subject to any active fault. Runs inside the transaction of the change. */
export function queueCallback(
  { callbacks, now, newId }: { callbacks: Tables['callbacks']; now: () => number; newId: () => string },
  { merchantId, callbackUrl, body }: Notice,
  fault: TakenFault<QueueFault> | undefined,
): void {
  const { token, orderNumber, status } = body;
  const add = (state: Partial<Callback> = {}) =>
    callbacks.insert({
      id: newId(),
      merchantId,
      token,
      orderNumber: orderNumber ?? undefined,
      status,
      url: callbackUrl,
      body: JSON.stringify(body),
      state: 'due',
      tries: 0,
      dueAt: now(),
      ...state,
    });
  if (fault?.fault === 'drop') return add({ state: 'dropped', dueAt: undefined });
  if (fault?.fault === 'duplicate') add();
  return add(fault?.fault === 'delay' ? { dueAt: now() + fault.delayMs } : {});
}

/** Sends due callbacks concurrently, but one at a time per payment. */
export function createCallbackDelivery(deps: {
  database: Pick<Database, 'write'>;
  callbacks: Tables['callbacks'];
  /** The service's time, which a tester can advance. */
  now: () => number;
  clock: Pick<Clock, 'sleep'>;
  postJson: PostJson;
  log: Log;
}) {
  const { database, callbacks, now, clock, postJson, log } = deps;
  const underWay = new Map<string, { token: string; ended: Promise<void> }>();
  let stopping: AbortSignal = AbortSignal.abort();

  const deliver = async (callback: Callback): Promise<void> => {
    const statusCode = await tryOnce({ clock, postJson }, callback.url, callback.body, stopping);
    // Aborted by our own stop: it stays due, and is sent after the next start.
    if (statusCode === undefined && stopping.aborted) return;
    const tries = callback.tries + 1;
    const pauseMs = retryPausesMs[tries - 1];
    const outcome = statusCode === 200 ? 'delivered' : pauseMs === undefined ? 'given_up' : 'failed';
    const line = { token: callback.token, attemptNumber: tries, statusCode: statusCode ?? 0, outcome };
    if (outcome === 'given_up') log.warn(line, 'callback failed permanently');
    else log.debug(line, 'callback tried');
    const next: Partial<Callback> =
      outcome === 'failed' ? { dueAt: now() + (pauseMs ?? 0) } : { state: outcome, dueAt: undefined };
    database.write(() => callbacks.update({ ...callback, tries, ...next }));
  };
  const start = (callback: Callback): void => {
    const ended = deliver(callback)
      .catch((error: unknown) => {
        log.error(
          { token: callback.token, error },
          'the outcome of a callback could not be stored; it is sent again',
        );
        return clock.sleep(second, stopping).catch(() => undefined); // Rejects when we stop, as expected.
      })
      .then(() => {
        underWay.delete(callback.id);
        loop.wake();
      });
    underWay.set(callback.id, { token: callback.token, ended });
  };
  const startDue = (): number | undefined => {
    const at = now();
    const busyTokens = new Set([...underWay.values()].map(({ token }) => token));
    for (const callback of callbacks.due(at, dueRowsMax)) {
      if (underWay.size >= concurrentTriesMax) break;
      if (busyTokens.has(callback.token)) continue;
      busyTokens.add(callback.token);
      start(callback);
    }
    return callbacks.nextDueAfter(at);
  };

  const loop = createDueLoop({ name: 'callback', now, clock, log, work: startDue });
  return {
    wake: loop.wake,
    run: async (signal: AbortSignal): Promise<void> => {
      stopping = signal;
      await loop.run(signal);
      await Promise.all([...underWay.values()].map(({ ended }) => ended));
    },
  };
}

/** One attempt with a timeout. Resolves with undefined if there was no answer. */
async function tryOnce(
  deps: { clock: Pick<Clock, 'sleep'>; postJson: PostJson },
  url: string,
  body: string,
  stopping: AbortSignal,
): Promise<number | undefined> {
  const ended = new AbortController();
  const tooLong = new AbortController();
  deps.clock.sleep(tryTimeoutMs, ended.signal).then(
    () => tooLong.abort(),
    () => undefined,
  );
  try {
    if (stopping.aborted) return undefined;
    return await deps.postJson(url, body, AbortSignal.any([stopping, tooLong.signal]));
  } catch {
    return undefined; // Any failure on the way is answered by the next try.
  } finally {
    ended.abort();
  }
}

/** How long an idle connection is kept; shorter than the usual keep-alive of receivers. */
const idleConnectionMs = 4_000;
const answerBytesReadMax = 64 * 1024;

/**
 * Posts over HTTP and verified HTTPS. Trusts the public certificate authorities and `trustedCa` (PEM), so that a
 * receiver on the same machine can have a certificate too. Redirects are not followed.
 */
export function createPostJson(trustedCa: string): { postJson: PostJson; close(): Promise<void> } {
  const agent = new Agent({
    keepAliveTimeout: idleConnectionMs,
    keepAliveMaxTimeout: idleConnectionMs,
    connect: { ca: [...rootCertificates, trustedCa], rejectUnauthorized: true },
  });
  return {
    postJson: async (url, body, signal) => {
      const headers = { 'content-type': 'application/json', 'user-agent': 'payment-service' };
      const answer = await request(url, { method: 'POST', headers, body, signal, dispatcher: agent });
      await answer.body.dump({ limit: answerBytesReadMax, signal });
      return answer.statusCode;
    },
    close: () => agent.destroy(),
  };
}
