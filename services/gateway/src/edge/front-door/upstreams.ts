/** The instances of one service: requests go to them in turn, past those that cannot be connected to. */
import { type Clock, errorCode } from '@tollgate/service-kit';
import type { Dispatcher } from 'undici';

/** So long an instance that could not be connected to is asked after the others only, milliseconds. */
const restMs = 2_000;

export interface UpstreamsOptions {
  /** At least one origin. */
  origins: readonly string[];
  agent: Pick<Dispatcher, 'request'>;
  clock: Pick<Clock, 'monotonic'>;
}

export interface Upstreams {
  /**
   * Sends a request once. Another instance is tried only where none of it can have been sent, because there was no
   * connection to send it on. Rejects with what kept the last instance from answering.
   */
  request(options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData>;
}

export function createUpstreams({ origins, agent, clock }: UpstreamsOptions): Upstreams {
  const restingUntil = new Map<string, number>();
  let turn = 0;

  /** All of them, recently unreachable ones last. */
  function inTurn(): readonly string[] {
    const first = turn % origins.length;
    turn += 1;
    const now = clock.monotonic();
    const rests = (origin: string) => (restingUntil.get(origin) ?? 0) > now;
    const rotated = [...origins.slice(first), ...origins.slice(0, first)];
    return [...rotated.filter((origin) => !rests(origin)), ...rotated.filter(rests)];
  }

  return {
    async request(options) {
      let failure: unknown;
      for (const origin of inTurn()) {
        try {
          return await agent.request({ ...options, origin });
        } catch (error) {
          if (!isNotSent(error)) throw error;
          restingUntil.set(origin, clock.monotonic() + restMs);
          failure = error;
        }
      }
      throw failure;
    },
  };
}

/**
 * True where there was no connection. The code alone does not tell: a host can become unreachable while an answer is
 * awaited, too.
 */
export function isNotSent(error: unknown): boolean {
  const code = errorCode(error);
  if (code === 'ECONNREFUSED' || code === 'UND_ERR_CONNECT_TIMEOUT') return true;
  const syscall = error instanceof Error && 'syscall' in error ? error.syscall : undefined;
  return syscall === 'connect' || syscall === 'getaddrinfo';
}
