/** The port beside the message bus for inspection: it reads a topic, joins no group and leaves no trace. */
import type { BusRecord } from './message-bus.ts';

export interface ReadTopicOptions {
  /**
   * In each partition: its first record, the first one to come, or the first one that the bus took at this time or later
   * (`timestamp`, milliseconds since the Unix epoch) with all that follow it.
   */
  from: 'beginning' | 'end' | { timestamp: number };
  /** Continues with the records to come; otherwise the reading ends after those that were there when it began. */
  isFollowing?: boolean;
  /** Ends the reading, without an error. */
  signal: AbortSignal;
}

export interface TopicReader {
  /**
   * The records of a topic, those of one partition in order. Joins no group, commits nothing and creates nothing, so that no
   * consumer notices. A topic that does not exist has no records.
   *
   * @throws TollgateError `bus_name_invalid`; retryable where the bus cannot be read
   */
  readTopic(topic: string, options: ReadTopicOptions): AsyncIterable<BusRecord>;
}
