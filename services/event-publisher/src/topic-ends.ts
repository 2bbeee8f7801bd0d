/**
 * Notices that records are gone which a topic had confirmed: a broker lost its disk, a leader was elected that did not
 * have them, a topic was made again. The end of each partition is kept in the checkpoint; where it is lower than it was, what
 * the partition is missing is published again, in order and with the same ids.
 */
import { type Position, beginning, positionSchema } from '@tollgate/event-store';
import type { MessageBus } from '@tollgate/message-bus';
import { type Log, TollgateError } from '@tollgate/service-kit';
import { z } from 'zod';
import type { LastRecords } from './last-records.ts';
import { publishedTopics } from './published-kinds.ts';

export const topicEndSchema = z.object({
  topic: z.string(),
  partition: z.int().min(0),
  /** The offset after that of the last record, when everything up to `position` was on the topic. */
  end: z.string().regex(/^\d+$/),
  position: positionSchema,
});
export type TopicEnd = z.infer<typeof topicEndSchema>;

export interface TopicEnds {
  /** Every event up to here is on its topic still. */
  from: Position;
  /**
   * What the checkpoint has to remember once everything up to `position` is on its topic.
   *
   * @throws TollgateError `records_gone`; BusUnavailable
   */
  at(position: Position): Promise<readonly TopicEnd[]>;
}

interface Dependencies {
  bus: Pick<MessageBus, 'endPerPartition'>;
  /** As they are now; a partition that lost its beginning is forgotten there. */
  lastRecords: Pick<LastRecords, 'ofPartition' | 'forget'>;
  log: Log;
}

/**
 * Compares the partitions with what the last checkpoint says of them.
 *
 * @throws BusUnavailable
 */
export async function compareEnds(
  { bus, lastRecords, log }: Dependencies,
  checkpoint: { position: Position; ends: readonly TopicEnd[] },
): Promise<TopicEnds> {
  const remembered = new Map(checkpoint.ends.map((end) => [nameOf(end), end]));
  const current = new Map((await readEnds(bus)).map((end) => [nameOf(end), end]));
  /** Of these, the remembered end stands until they have come as far again: a restart meanwhile begins there again. */
  const incomplete = new Set<string>();
  let from = checkpoint.position;
  for (const known of checkpoint.ends) {
    const end = current.get(nameOf(known))?.end ?? '0';
    if (BigInt(end) >= BigInt(known.end)) continue;
    incomplete.add(nameOf(known));
    const left = continueAt(known);
    if (left < from) from = left;
    const { topic, partition } = known;
    const count = Number(BigInt(known.end) - BigInt(end));
    const found = { code: 'records_gone', topic, partition, count, position: left };
    log.error(found, 'records are gone that the topic had confirmed; they are published again');
  }

  /** Where a partition goes on. What came to be there after the loss hides how much is missing before it. */
  function continueAt({ topic, partition, position }: TopicEnd): Position {
    const last = lastRecords.ofPartition(topic, partition);
    if (last !== undefined && last.position <= position) return last.position;
    lastRecords.forget(topic, partition);
    return beginning;
  }

  return {
    from,
    at: async (position) => {
      for (const { topic, partition, end } of await readEnds(bus)) {
        const name = nameOf({ topic, partition });
        const known = remembered.get(name);
        if (known !== undefined && incomplete.has(name) && position < known.position) continue;
        if (known !== undefined && !incomplete.has(name) && BigInt(end) < BigInt(known.end))
          throw gone(topic);
        incomplete.delete(name);
        remembered.set(name, { topic, partition, end, position });
      }
      return [...remembered.values()];
    },
  };
}

const nameOf = ({ topic, partition }: Pick<TopicEnd, 'topic' | 'partition'>): string =>
  `${topic} ${partition}`;

async function readEnds(bus: Dependencies['bus']) {
  const ends = publishedTopics.map(async (topic) =>
    (await bus.endPerPartition(topic)).map((end) => ({ topic, ...end })),
  );
  return (await Promise.all(ends)).flat();
}

const gone = (topic: string) =>
  new TollgateError('records_gone', `${topic} has lost records that it had confirmed.`, { retryable: true });
