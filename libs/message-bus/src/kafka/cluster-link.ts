import type { Clock, TollgateError } from '@tollgate/service-kit';
import type { Cluster } from 'kafkajs';
import { createKafkaClient, type KafkaConnectionOptions } from './connection.ts';
import { isLeaderMoving, persistently, toBusUnavailable, within } from './kafka-failure.ts';

const pingIntervalMs = 5_000;
const firstPauseMs = 250;
const pauseMsMax = 10_000;

export interface ClusterLinkOptions {
  connection: KafkaConnectionOptions;
  clock: Clock;
  /** Of one piece of work through the link. */
  deadlineMs: number;
}

export type ClusterLink = ReturnType<typeof createClusterLink>;

/** A connection for everything that is not records: kept up by its own loop, so that readiness needs no traffic. */
export function createClusterLink({ connection, clock, deadlineMs }: ClusterLinkOptions) {
  const { log } = connection;
  const closing = new AbortController();
  let opened: ReturnType<typeof openCluster> | undefined;
  let isConnected = false;
  /** The causes that were reported since it last answered. */
  const reported = new Set<string>();

  /** `work` reads, and is repeated while a partition gets another leader. @throws BusUnavailable */
  async function ask<Result>(work: (cluster: Cluster) => Promise<Result>): Promise<Result> {
    opened ??= openCluster(connection);
    const { cluster, connected, sever } = opened;
    try {
      return await within(
        clock,
        deadlineMs,
        connected.then(() => persistently(clock, () => work(cluster), isLeaderMoving)),
      );
    } catch (error) {
      // kafkajs does not recover from every failure: the next caller gets a new connection.
      if (opened?.cluster === cluster) opened = undefined;
      const failure = toBusUnavailable(error);
      // Concurrent queries over a working connection are answered first.
      if (failure.retryable) sever();
      else cluster.disconnect().catch(sever);
      throw failure;
    }
  }

  function reportOnce({ code, message }: TollgateError): void {
    const fields = { operation: 'kafka', code, address: connection.brokers.join(', ') };
    if (reported.has(message)) log.debug(fields, message);
    else if (isConnected) log.error(fields, `Kafka no longer answers. ${message}`);
    else log.warn(fields, `Kafka does not answer. ${message}`);
    reported.add(message);
  }

  async function keepUp(): Promise<void> {
    let pauseMs = firstPauseMs;
    while (!closing.signal.aborted) {
      try {
        await ask((cluster) => cluster.metadata());
        if (!isConnected) log.info({ operation: 'kafka' }, 'Kafka answers');
        [isConnected, pauseMs] = [true, firstPauseMs];
        reported.clear();
      } catch (error) {
        reportOnce(toBusUnavailable(error));
        isConnected = false;
      }
      await clock.sleep(isConnected ? pingIntervalMs : pauseMs, closing.signal).catch(() => undefined);
      if (!isConnected) pauseMs = Math.min(2 * pauseMs, pauseMsMax);
    }
  }

  void keepUp();
  return {
    /** True if the cluster answered the last query. */
    isConnected: (): boolean => isConnected,
    ask,
    close: async (): Promise<void> => {
      closing.abort();
      isConnected = false;
      opened?.sever();
    },
  };
}

/** kafkajs exposes its connection to the cluster only to partition assigners: this one assigns nothing and returns it. */
function openCluster(connection: KafkaConnectionOptions) {
  const { kafka, sever } = createKafkaClient(connection);
  let cluster: Cluster | undefined;
  kafka.consumer({
    groupId: connection.clientId,
    allowAutoTopicCreation: false,
    partitionAssigners: [
      (given) => {
        cluster = given.cluster;
        return {
          name: 'none',
          version: 0,
          assign: async () => [],
          protocol: () => ({ name: '', metadata: Buffer.alloc(0) }),
        };
      },
    ],
  });
  if (cluster === undefined) throw new Error('kafkajs has not called the partition assigner.');
  const connected = cluster.connect();
  connected.catch(() => undefined);
  return { cluster, connected, sever };
}
