/** The followers' thread, seen from the one that has started it. */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { StartupError, TollgateError, omitUndefined, within } from '@tollgate/service-kit';
import type { GaugeName, Metrics, Read } from '../../edge/metrics/metrics.ts';
import type { RunningService } from '../../edge/running-service.ts';
import type { Holder } from '../lease-holder.ts';
import type { GatewayDependencies } from '../../configuration/gateway-dependencies.ts';

export interface ThreadData {
  /** Both threads are one life of a process. */
  holder: Holder;
  /** To the writer of the embedded store; absent if the store is a server. */
  connection?: MessagePort;
  /** To the reader of the index that the thread fills. */
  reader: MessagePort;
}

export type About = 'notReady' | 'degraded' | GaugeName;

export type ToThread = { kind: 'question'; id: number; about: About } | { kind: 'stop' };

export type FromThread =
  | { kind: 'started'; gauges: readonly GaugeName[] }
  | { kind: 'start-refused'; code: string; message: string; retryable: boolean }
  | { kind: 'answer'; id: number; answer: unknown };

/** Followers yield after some milliseconds: without an answer for this long, the thread is stuck. @unit milliseconds */
const answerWithinMs = 5_000;

/** Default name. */
const silent = ['projector', 'event-publisher'];

/**
 * MiB. Its payments are short-lived; only recently used views and batches stay. `--max-old-space-size`, if given,
 * limits the old generation instead, for this heap as for the first.
 */
const resourceLimits = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 24 };

export type FollowerThread = Awaited<ReturnType<typeof startFollowerThread>>;

interface ThreadParts extends Pick<GatewayDependencies, 'clock' | 'env'> {
  holder: Holder;
  metrics: Pick<Metrics, 'watch'>;
  stops: AsyncDisposableStack;
  /** Lets the thread write to the file of the store; undefined if the store is a server. */
  storeConnection: () => Promise<MessagePort | undefined>;
}

/** @throws StartupError */
export async function startFollowerThread(parts: ThreadParts) {
  const connection = await parts.storeConnection();
  const { port1: filler, port2: reader } = new MessageChannel();
  const workerData: ThreadData = { holder: parts.holder, reader, ...omitUndefined({ connection }) };
  const worker = new Worker(new URL('./main.ts', import.meta.url), {
    workerData,
    resourceLimits,
    env: { ...parts.env },
    transferList: [reader, ...(connection === undefined ? [] : [connection])],
  });
  const thread = converse(worker, parts);
  parts.stops.defer(thread.stop);
  const gauges = await thread.started;
  for (const gauge of gauges) parts.metrics.watch(gauge, () => thread.ask(gauge) as Promise<Read>);
  const running: RunningService = {
    notReady: () => thread.ask('notReady').catch(() => silent) as Promise<readonly string[]>,
    degraded: () => thread.ask('degraded').catch(() => silent) as Promise<readonly string[]>,
  };
  /** To the index that the thread fills. */
  return { running, filler };
}

/** @param worker the part of a `Worker` that is used */
export function converse(worker: Pick<Worker, 'on' | 'postMessage'>, { clock }: Pick<ThreadParts, 'clock'>) {
  const started = Promise.withResolvers<Extract<FromThread, { kind: 'started' }>['gauges']>();
  const ended = Promise.withResolvers<undefined>();
  const questions = new Map<number, (answer: unknown) => void>();
  let count = 0;
  let isStarted = false;
  let isStopping = false;

  worker
    .on('message', (message: FromThread) => {
      if (message.kind === 'answer') return questions.get(message.id)?.(message.answer);
      isStarted = message.kind === 'started';
      if (message.kind === 'started') started.resolve(message.gauges);
      else started.reject(new StartupError(message.code, message.message, message));
    })
    // Uncaught, so that it ends the process, as on the thread of the requests.
    .on('error', (error) => {
      if (isStarted) throw error;
      started.reject(error);
    })
    .on('exit', () => {
      ended.resolve(undefined);
      const stopped = new TollgateError(
        'followers_stopped',
        'The thread of the projector and publisher has ended.',
      );
      started.reject(stopped);
      if (isStarted && !isStopping) throw stopped;
    });

  function ask(about: About): Promise<unknown> {
    const id = (count += 1);
    const work = new Promise<unknown>((resolve) => questions.set(id, resolve));
    worker.postMessage({ kind: 'question', id, about } satisfies ToThread);
    const tooLate = () => new TollgateError('followers_silent', 'The followers do not answer.');
    return within(clock, answerWithinMs, { work, tooLate }).finally(() => questions.delete(id));
  }

  return {
    started: started.promise,
    ask,
    async stop() {
      isStopping = true;
      worker.postMessage({ kind: 'stop' } satisfies ToThread);
      await ended.promise;
    },
  };
}
