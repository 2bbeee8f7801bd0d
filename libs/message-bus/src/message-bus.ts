/** The port: Tollgate's requirements of a message bus. One contract suite runs against every adapter. */
import { TollgateError } from '@tollgate/service-kit';

/** The bus did not confirm: some, all or none of the messages were written. Retryable unless stated otherwise. */
export class BusUnavailable extends TollgateError {
  constructor(code: string, message: string, options: { retryable?: boolean; cause?: unknown } = {}) {
    super(code, message, { retryable: true, ...options });
  }
}

export interface Message {
  /** Messages of one key stay in order. */
  key: string;
  value: Uint8Array;
  headers: Readonly<Record<string, string>>;
}

export interface BusRecord extends Message {
  topic: string;
  partition: number;
  /** Place of the record in its partition. Grows; gaps are possible. */
  offset: string;
  /** When the bus took the record, milliseconds since the Unix epoch. */
  timestamp: number;
}

export interface SubscribeOptions {
  /** Consumers of one group share the partitions; each group gets every record. */
  group: string;
  topics: readonly string[];
  signal: AbortSignal;
}

export interface MessageBus {
  /** Whether the bus answered the last request; for readiness only. */
  isConnected(): boolean;

  /**
   * Publishes messages in order; resolved means durable. Rejected means that some, all or none were written.
   *
   * @throws BusUnavailable (retryable)
   */
  publish(topic: string, messages: readonly Message[]): Promise<void>;

  /**
   * Passes records to `handle` in batches of one partition, at least once and in order per key. The batch is committed when
   * `handle` resolves; when it rejects, the same records are delivered again after a pause. A new group starts at the first
   * record. Resolves when the signal is aborted and the running handler has ended.
   */
  subscribe(options: SubscribeOptions, handle: (batch: readonly BusRecord[]) => Promise<void>): Promise<void>;

  close(): Promise<void>;
}

/** Additional requirements of a publisher of the public topics. */
export interface KafkaMessageBus extends MessageBus {
  /** The last record of each partition that has one. @throws BusUnavailable */
  lastPerPartition(topic: string): Promise<BusRecord[]>;

  /** The partition of the messages of this key. @throws BusUnavailable */
  partitionOf(topic: string, key: string): Promise<number>;

  /** Identifies the topics: the same for every client of their records. @throws BusUnavailable */
  address(): Promise<string>;
}

export interface ReadTopicOptions {
  /**
   * The first record, the next one, or the first one recorded at this time or later (`timestamp`, milliseconds since the Unix
   * epoch), and all later ones.
   */
  from: 'beginning' | 'end' | { timestamp: number };
  /** Continues with new records; otherwise the reading ends after those that existed at its start. */
  isFollowing?: boolean;
  /** Ends the reading, without an error. */
  signal: AbortSignal;
}
