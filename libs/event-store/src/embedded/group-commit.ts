import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import { StartupError } from '@tollgate/service-kit';
import { StoreUnavailable, storeClosed } from '../errors.ts';
import { fromSqliteCode, writerStopped } from './store-failure.ts';
import type { FromWriter, Operation, OperationResult, ToWriter, WriterOptions } from './writer-protocol.ts';

/** The calling thread's side of the writer thread. */
export type GroupCommit = ReturnType<typeof joinGroupCommit>;

interface CommitWatchers {
  /** Called after each commit, including those of other threads of this process. */
  onCommit: () => void;
  /** Called if the thread has ended unexpectedly: nothing can be written. */
  onWriterStopped?: ((error: StoreUnavailable) => void) | undefined;
}

export interface GroupCommitOptions extends WriterOptions, CommitWatchers {
  /** For tests: receives the thread, to end it. */
  onWorker?: ((worker: Worker) => void) | undefined;
}

/** @throws StartupError */
export async function startGroupCommit(options: GroupCommitOptions): Promise<GroupCommit> {
  const { file, pageCountMax, onWorker } = options;
  const worker = new Worker(new URL('./writer-thread.ts', import.meta.url), {
    workerData: { file, pageCountMax },
  });
  await started(worker);
  onWorker?.(worker);
  return joinGroupCommit(worker, options);
}

async function started(worker: Worker): Promise<void> {
  const first = await new Promise<FromWriter>((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
    worker.once('exit', () => reject(writerStopped()));
  });
  if (first.kind === 'start-refused') throw new StartupError(first.code, first.message);
}

/** @param worker the writer, or a connection to one that another thread of this process has started */
export function joinGroupCommit(worker: Worker | MessagePort, { onCommit, onWriterStopped }: CommitWatchers) {
  const backlog = createBacklog();
  let underWay: Waiting[] = [];
  let isDispatchPlanned = false;
  let refusal: StoreUnavailable | undefined;
  let onIdle: (() => void) | undefined;
  let drained: Promise<void> | undefined;

  function planDispatch(): void {
    if (isDispatchPlanned || underWay.length > 0) return;
    isDispatchPlanned = true;
    // Appends of the same turn of the event loop are sent together.
    setImmediate(dispatch);
  }

  function dispatch(): void {
    isDispatchPlanned = false;
    underWay = backlog.takeBatch();
    if (underWay.length > 0) {
      worker.ref();
      send(worker, { kind: 'commit', operations: underWay.map((each) => each.operation) });
    } else {
      // An idle store does not keep the process alive.
      worker.unref();
      onIdle?.();
    }
  }

  function onAnswer(answer: FromWriter): void {
    if (answer.kind === 'others-committed') return onCommit();
    settle(underWay, answer);
    underWay = [];
    if (answer.kind === 'committed') onCommit();
    planDispatch();
  }

  function onStopped(cause?: unknown): void {
    const error = writerStopped(cause);
    const isUnexpected = refusal === undefined;
    refusal ??= error;
    for (const each of [...underWay, ...backlog.takeAll()]) each.reject(error);
    underWay = [];
    onIdle?.();
    if (isUnexpected) onWriterStopped?.(error);
  }

  function drain(): Promise<void> {
    refusal ??= storeClosed();
    return (drained ??= new Promise<void>((resolve) => {
      onIdle = resolve;
      planDispatch();
    }));
  }

  worker.on('message', onAnswer);
  if (worker instanceof Worker) worker.on('error', onStopped).on('exit', () => onStopped());
  else worker.on('close', () => onStopped());
  worker.unref();

  return {
    /**
     * Resolves when the operation is durable. Operations that arrive while a commit is under way share the next one.
     *
     * @throws StoreUnavailable
     */
    submit: (operation: Operation, bytes: number): Promise<OperationResult> =>
      new Promise((resolve, reject) => {
        if (refusal !== undefined) throw refusal;
        backlog.push({ operation, bytes, resolve, reject });
        planDispatch();
      }),
    /** Rejects new operations, and waits for the submitted ones. */
    drain,
    /** Lets another thread of this process take part, with {@link joinGroupCommit}; its operations come last. */
    connection: (): MessagePort => {
      const { port1, port2 } = new MessageChannel();
      worker.postMessage({ kind: 'connect', port: port1 } satisfies ToWriter, [port1]);
      return port2;
    },
    /** Drains, and closes the file unless others still write to it. */
    close: (): Promise<void> => drain().then(() => stop(worker)),
  };
}

function settle(batch: readonly Waiting[], answer: FromWriter): void {
  const results = answer.kind === 'committed' ? answer.results : [];
  for (const [index, each] of batch.entries()) {
    const result = results[index];
    if (result !== undefined) each.resolve(result);
    else each.reject(answer.kind === 'failed' ? fromSqliteCode(answer.sqliteCode) : writerStopped());
  }
}

const send = (worker: Worker | MessagePort, message: ToWriter): void => worker.postMessage(message);

async function stop(worker: Worker | MessagePort): Promise<void> {
  if (!(worker instanceof Worker)) {
    worker.close();
    return;
  }
  if (worker.threadId === -1) return;
  worker.ref();
  const exited = new Promise((resolve) => worker.once('exit', resolve));
  send(worker, { kind: 'stop' });
  await exited;
}

export const batchOperationsMax = 512;
export const batchBytesMax = 32 * 1_048_576;
export const waitingOperationsMax = 50_000;
const waitingBytesMax = 128 * 1_048_576;

/** An operation whose caller waits for the answer. */
interface Waiting {
  operation: Operation;
  bytes: number;
  resolve(result: OperationResult): void;
  reject(error: StoreUnavailable): void;
}

/** Operations that wait for the next commits, in order of arrival. */
export function createBacklog() {
  let waiting: Waiting[] = [];
  let waitingBytes = 0;
  const take = (length: number) => {
    const taken = waiting.slice(0, length);
    waiting = waiting.slice(length);
    waitingBytes -= taken.reduce((sum, each) => sum + each.bytes, 0);
    return taken;
  };
  return {
    /** @throws StoreUnavailable if the queue is full */
    push: (each: Waiting) => {
      if (waiting.length >= waitingOperationsMax || waitingBytes + each.bytes > waitingBytesMax) {
        throw new StoreUnavailable('store_overloaded', 'Too many appends wait for the disk.');
      }
      waiting.push(each);
      waitingBytes += each.bytes;
    },
    /** Takes the operations of the next commit; none only if none waits. */
    takeBatch: () => take(batchLength(waiting)),
    takeAll: () => take(waiting.length),
  };
}

function batchLength(waiting: readonly Waiting[]): number {
  let length = 0;
  let bytes = 0;
  for (const each of waiting.slice(0, batchOperationsMax)) {
    bytes += each.bytes;
    if (length > 0 && bytes > batchBytesMax) break;
    length += 1;
  }
  return length;
}
