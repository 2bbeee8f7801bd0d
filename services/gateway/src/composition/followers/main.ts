/** Entry of the follower thread: projector and publisher, in a process whose main thread answers requests. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import {
  StartupError,
  TollgateError,
  createLog,
  readConfig,
  systemClock,
  systemIds,
} from '@tollgate/service-kit';
import { fillIndex } from '@tollgate/lists';
import { gatewayConfigSchema } from '../../configuration/config.ts';
import { openDataDirectory } from '../../configuration/data-directory.ts';
import type { GaugeName, ReadGauge } from '../../edge/metrics/metrics.ts';
import type { RunningService } from '../../edge/running-service.ts';
import { busAndLeases } from '../open-bus.ts';
import { openStore } from '../open-store.ts';
import { type FollowerParts, startEventPublisher, startProjector } from '../services/followers.ts';
import type { About, FromThread, ThreadData, ToThread } from './follower-thread.ts';

type Gauges = Map<GaugeName, ReadGauge>;

async function openParts(
  { holder: own, connection, reader }: ThreadData,
  { stops, gauges }: { stops: AsyncDisposableStack; gauges: Gauges },
): Promise<FollowerParts> {
  const config = readConfig(gatewayConfigSchema, process.env);
  const logOf = (service: string) => createLog(service, config.logLevel);
  const { eventStore, dataDir, instance, indexDir, inquiryDelays: delays } = config;
  const [clock, ids] = [systemClock, systemIds];
  const { eventsFile: file, indexFile } = openDataDirectory(dataDir, instance, indexDir);
  const opened = await openStore({ eventStore, file, clock, log: logOf('event-store'), connection });
  stops.defer(() => opened.close());
  const filling = { store: opened, log: logOf('query-service'), clock, ids, delays, reader };
  const index = fillIndex({ ...filling, file: indexFile });
  stops.defer(() => index.stop());
  const store = () => Promise.resolve(opened);
  const parts = { config, clock, ids, logOf };
  return {
    ...parts,
    ...busAndLeases(parts, { store, own, stops }),
    stops,
    store,
    metrics: { watch: (name, read) => void gauges.set(name, read) },
  };
}

async function startAll(data: ThreadData, own: Parameters<typeof openParts>[1]) {
  const parts = await openParts(data, own);
  return [await startProjector(parts), await startEventPublisher(parts)];
}

async function serve(port: MessagePort, data: ThreadData): Promise<void> {
  const post = (message: FromThread): void => port.postMessage(message);
  const stops = new AsyncDisposableStack();
  const gauges: Gauges = new Map();
  const running = await startAll(data, { stops, gauges }).catch(async (error: unknown) => {
    // Open handles keep the thread alive, and the start waits for its end.
    await stops.disposeAsync();
    throw error;
  });
  port.on('message', (message: ToThread) => {
    if (message.kind === 'stop') return void stops.disposeAsync().finally(() => port.close());
    const { id, about } = message;
    void answerTo(about, running, gauges).then((answer) => post({ kind: 'answer', id, answer }));
  });
  post({ kind: 'started', gauges: [...gauges.keys()] });
}

async function answerTo(about: About, running: readonly RunningService[], gauges: Gauges): Promise<unknown> {
  if (about !== 'notReady' && about !== 'degraded') return gauges.get(about)?.();
  const names = await Promise.all(running.map(async (service) => service[about]?.()));
  return names.flatMap((some) => some ?? []);
}

if (parentPort !== null)
  try {
    await serve(parentPort, workerData as ThreadData);
  } catch (error) {
    if (!(error instanceof TollgateError) || !(error instanceof StartupError || error.retryable)) throw error;
    const { code, message, retryable } = error;
    parentPort.postMessage({ kind: 'start-refused', code, message, retryable } satisfies FromThread);
    parentPort.close();
  }
