/** The message bus: embedded in the event store, or Kafka if its brokers are named. */
import { type EventStore, runUnderLease } from '@tollgate/event-store';
import { gatewayTopics } from '@tollgate/gateway-api';
import {
  type KafkaMessageBus,
  type MessageBus,
  createEmbeddedMessageBus,
  prefixTopics,
} from '@tollgate/message-bus';
import {
  type Clock,
  type Ids,
  type Log,
  StartupError,
  errorCode,
  once,
  valueWithin,
} from '@tollgate/service-kit';
import { type RunAlone, inBackground } from './background.ts';
import { type Holder, isOfAnEndedProcess, toHolder } from './lease-holder.ts';
import type { GatewayDependencies } from '../configuration/gateway-dependencies.ts';
import { type KafkaConfig, toTopicSpec } from '../configuration/kafka-config.ts';

/** The bus and the leases of one life of a process, opened when they are first used. */
export function busAndLeases(
  { config, clock, ids, logOf }: Pick<GatewayDependencies, 'config' | 'clock' | 'ids' | 'logOf'>,
  { store, own, stops }: { store: () => Promise<EventStore>; own: Holder; stops: AsyncDisposableStack },
) {
  const isGone = (other: string) => isOfAnEndedProcess(other, own);
  const shared = { clock, ids, holder: toHolder(own), isGone };
  const { kafka } = config;
  return {
    bus: once(() => openBus({ ...shared, kafka, store, log: logOf('message-bus') }, stops)),
    runAlone: once(async (): Promise<RunAlone> => {
      const leases = { ...shared, store: await store() };
      return (name, signal, work) => runUnderLease({ ...leases, name, signal, log: logOf(name) }, work);
    }),
  };
}

export interface BusDependencies {
  kafka: KafkaConfig | undefined;
  /** Of the embedded bus; Kafka needs none. */
  store: () => Promise<EventStore>;
  clock: Clock;
  ids: Ids;
  log: Log;
  holder: string;
  isGone: (holder: string) => boolean;
}

/** Maximum wait of a start for the topics; without a broker it continues, and logs it. @unit milliseconds */
const topicsWaitMs = 10_000;

/** Pause between two attempts to create the topics while no broker answers, milliseconds. */
const topicsPauseMs = 5_000;

/** How long the callbacks of a killed process wait for another one. @unit milliseconds */
const sessionTimeoutMs = 10_000;

/** Needs no broker: the bus connects, and makes the topics that are missing, as soon as there is one. */
export async function openBus(
  deps: BusDependencies,
  stops: AsyncDisposableStack,
): Promise<MessageBus | KafkaMessageBus> {
  const { kafka, ...embedded } = deps;
  if (kafka === undefined) {
    const bus = createEmbeddedMessageBus({ ...embedded, store: await embedded.store() });
    stops.defer(() => bus.close());
    return bus;
  }
  const { clock, log } = deps;
  const { createKafkaMessageBus } = await import('@tollgate/message-bus/kafka');
  if (stops.disposed)
    throw new StartupError('start_given_up', 'The start was aborted while the bus was opening.');
  const cluster = createKafkaMessageBus({ ...kafka.connection, clock, log, sessionTimeoutMs });
  const bus = prefixTopics(cluster, kafka.topicPrefix);
  stops.defer(() => bus.close());
  const tried = Promise.withResolvers<undefined>();
  stops.defer(
    inBackground((signal) => makeTopics(deps, kafka, { signal, onTried: () => tried.resolve(undefined) })),
  );
  // Following a topic that is still being created would fail, and log an error at each first start.
  await valueWithin(clock, topicsWaitMs, tried.promise);
  return bus;
}

async function makeTopics(
  { clock, log }: BusDependencies,
  kafka: KafkaConfig,
  { signal, onTried }: { signal: AbortSignal; onTried: () => void },
): Promise<void> {
  const { ensureTopics } = await import('@tollgate/message-bus/kafka');
  const specs = gatewayTopics.map((topic) => toTopicSpec(topic, kafka));
  let warnedOf: string | undefined;
  while (!signal.aborted) {
    try {
      const differences = await ensureTopics({ ...kafka.connection, clock, log }, specs);
      for (const { topic, setting } of differences)
        log.warn(
          { topic, code: setting },
          'a topic differs from its definition; run tollgate topics check for details',
        );
      onTried();
      return;
    } catch (error) {
      const code = errorCode(error) ?? 'unknown';
      const level = warnedOf === code ? 'debug' : 'warn';
      log[level]({ error, waitMs: topicsPauseMs }, 'the topics could not be created; retrying');
      warnedOf = code;
      onTried();
      await clock.sleep(topicsPauseMs, signal).catch(() => undefined);
    }
  }
}
