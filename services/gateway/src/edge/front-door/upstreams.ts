/** The instances of one service: requests go to them in turn, past those that cannot be connected to. */
import { type Clock, TollgateError, errorCode } from '@tollgate/service-kit';
import type { Dispatcher } from 'undici';

/** How long an instance without a connection is tried last. @unit milliseconds */
const restMs = 2_000;

export interface UpstreamsOptions {
  /** At least one origin. */
  origins: readonly string[];
  agent: Pick<Dispatcher, 'request'>;
  clock: Pick<Clock, 'monotonic'>;
}

export type Upstreams = ReturnType<typeof createUpstreams>;

export function createUpstreams({ origins, agent, clock }: UpstreamsOptions) {
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
    /**
     * Sends a request once. Another instance is tried only if none of it can have been sent, because there was no connection,
     * or if it was not read completely (408). Rejects with the failure of the last instance.
     */
    async request(options: Dispatcher.RequestOptions): Promise<Dispatcher.ResponseData> {
      let failure: unknown;
      for (const origin of inTurn()) {
        try {
          const answer = await agent.request({ ...options, origin });
          if (answer.statusCode !== 408) return answer;
          await answer.body.dump();
          throw new TollgateError(notRead, 'The service did not read the request in time.');
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

const notRead = 'request_not_read';

/**
 * True if there was no connection, or the request was not read completely. The code alone is ambiguous: a host can also become
 * unreachable during the answer.
 */
export function isNotSent(error: unknown): boolean {
  const code = errorCode(error);
  if (code === 'ECONNREFUSED' || code === 'UND_ERR_CONNECT_TIMEOUT' || code === notRead) return true;
  const syscall = error instanceof Error && 'syscall' in error ? error.syscall : undefined;
  return syscall === 'connect' || syscall === 'getaddrinfo';
}
