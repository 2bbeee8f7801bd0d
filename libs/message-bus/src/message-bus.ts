/** The port: what Tollgate needs of a message bus. One contract suite runs against every adapter. */

export interface Message {
  /** Messages of one key stay in order. */
  key: string;
  value: Uint8Array;
  headers: Readonly<Record<string, string>>;
  /**
   * What it follows from, such as the id of an event: of each cause a topic has one message. The embedded bus recognises a
   * repeat by it, from any sender, as `lastPerPartition` says; Kafka takes no notice of it. Without a cause, a message
   * that was published again because the first try failed may be there twice.
   */
  cause?: string;
}

export interface BusRecord extends Omit<Message, 'cause'> {
  topic: string;
  partition: number;
  /** Decimal number of the record in its partition, as text. Grows; gaps are possible. */
  offset: string;
  /** When the bus took the record, milliseconds since the Unix epoch. */
  timestamp: number;
}

export interface PartitionEnd {
  partition: number;
  /** The offset after that of the last record; `0` where there never was one. */
  end: string;
}

export interface SubscribeOptions {
  /** Consumers of one group share the partitions among them; each group gets every record. */
  group: string;
  topics: readonly string[];
  signal: AbortSignal;
}

export interface MessageBus {
  /** Whether the bus answered when it was asked last; for readiness only, as the next call may find it otherwise. */
  isConnected(): boolean;

  /**
   * Publishes messages in order; resolved means durable. Rejected means that some, all or none were written.
   *
   * @throws BusUnavailable (retryable)
   */
  publish(topic: string, messages: readonly Message[]): Promise<void>;

  /**
   * Hands records to `handle` in batches of one partition, at least once and in order per key. The batch is committed when
   * `handle` resolves; when it rejects, the same records come again after a pause. A new group starts at the first record.
   * Resolves when the signal is aborted and the handler that was running has ended.
   */
  subscribe(options: SubscribeOptions, handle: (batch: readonly BusRecord[]) => Promise<void>): Promise<void>;

  /**
   * The last record of each partition that has one: what a publisher resumes from. Of what comes to be there after it, the
   * messages with a cause that it publishes are not written again.
   */
  lastPerPartition(topic: string): Promise<BusRecord[]>;

  /**
   * Where each partition ends, of a topic that exists. It grows with each record, and not with what is deleted because of
   * its age or by hand: where it is lower than it was, records are gone that had been confirmed.
   */
  endPerPartition(topic: string): Promise<PartitionEnd[]>;

  /** The partition that messages of this key go to, which a publisher compares with the last records. */
  partitionOf(topic: string, key: string): Promise<number>;

  /**
   * What a topic is known by whatever bus leads to it: the same for all who share its records, and another for every
   * other one. A publisher keeps it with its checkpoint.
   *
   * @throws BusUnavailable (retryable)
   */
  addressOf(topic: string): Promise<string>;

  close(): Promise<void>;
}
