/** `topics …`, `tail`: topics on Kafka, and the records of a topic without consuming them. */
import { readTopic, requestRepublication } from '@tollgate/topics';
import { gatewayTopics } from '@tollgate/gateway-api';
import { minInsyncReplicasOf } from '@tollgate/gateway/configuration';
import type { BusRecord, ReadTopicOptions, TopicDifference, TopicSpec } from '@tollgate/message-bus';
import { dayMs } from '@tollgate/service-kit';
import {
  type CommandResult,
  argument,
  choice,
  done,
  flag,
  option,
  optionOr,
  refuse,
  text,
  wholeNumber,
} from '@tollgate/service-kit/command-line';
import { instant } from './parameters.ts';
import { type CommandTools, type TopicAdmin, command, recordAction, stopSignalOf } from './tools.ts';

const kafka = {
  replication: optionOr(
    'count',
    'copies of each record; with more than one, one may be missing',
    wholeNumber(1, 9),
    '3',
  ),
};
const withoutKafka = 'Nothing is needed: without Kafka, the topics are computed when they are read.';

export const topicCommands = [
  command('topics create', 'create missing topics on Kafka', kafka, checkTopics('ensureTopics')),
  command(
    'topics check',
    'compare the topics on Kafka with their settings',
    kafka,
    checkTopics('checkTopics'),
  ),
  command(
    'topics republish',
    'have the publisher fill topics that were deleted or have lost their last records',
    {},
    async (tools) => {
      if (tools.topicAdmin === undefined) return done(withoutKafka, { needed: false });
      await recordAction(tools, 'topics republish', {});
      if (!(await requestRepublication(tools))) return refuse('Nothing was published.');
      return done('The publisher fills the topics. Follow tollgate_publisher_lag_seconds.', { needed: true });
    },
  ),
];

function checkTopics(operation: keyof TopicAdmin) {
  return async (tools: CommandTools, { replication }: { replication: number }): Promise<CommandResult> => {
    const { topicAdmin } = tools;
    if (topicAdmin === undefined) return done(withoutKafka, { needed: false, topics: [] });
    const minInsyncReplicas = minInsyncReplicasOf(replication);
    const specs = gatewayTopics.map((topic) => ({ ...topic, replication, minInsyncReplicas }));
    if (operation === 'ensureTopics') await recordAction(tools, 'topics create', { replication });
    const differences = await topicAdmin[operation](specs);
    if (differences.length > 0) return refuse(toSentence(differences));
    return done(specs.map(toLine).join('\n'), { needed: true, topics: specs });
  };
}

const toSentence = (differences: readonly TopicDifference[]): string =>
  `Not as it has to be: ${differences.map(toClause).join('; ')}.`;

const toClause = ({ topic, setting, expected, actual }: TopicDifference): string =>
  setting === 'topic' ? `${topic} ${actual}` : `${topic} has ${setting} ${actual} and not ${expected}`;

function toLine({ topic, partitions, replication, retentionMs, cleanup }: TopicSpec): string {
  const kept = retentionMs === 'forever' ? 'kept without limit' : `kept for ${retentionMs / dayMs} days`;
  const size = `partitions ${String(partitions).padStart(2)}, copies ${replication}`;
  return `${topic.padEnd(26)} ${size}, ${kept}${cleanup === 'compact' ? ', compacted' : ''}`;
}

const topicNames = gatewayTopics.map(({ topic }) => topic);

/** Prints each record as one line of JSON. */
export const tailCommand = command(
  'tail',
  'print the records of a topic as lines of JSON; consumers are not affected',
  {
    topic: argument('topic', topicNames.join(', '), choice(topicNames)),
    key: option('token', 'only those of this payment, payout or dispute', text),
    from: option(
      'place',
      'beginning, end, or a time such as 2030-01-31T12:00:00Z (default: beginning, or end with --follow)',
      (text): ReadTopicOptions['from'] =>
        text === 'beginning' || text === 'end' ? text : { timestamp: instant(text) },
    ),
    follow: flag('show new records until Ctrl-C'),
  },
  async (tools, { topic, key, from, follow }) => {
    const options = {
      from: from ?? (follow ? 'end' : 'beginning'),
      isFollowing: follow,
      signal: stopSignalOf(tools),
    };
    for await (const record of readTopic(tools.store, topic, options))
      if (key === undefined || record.key === key) tools.print(`${JSON.stringify(toJson(record))}\n`);
    return { kind: 'printed' };
  },
  ({ from, follow }) => (from === 'end' && !follow ? '--from end needs --follow' : undefined),
);

/** The value as JSON if possible, otherwise in base64. */
function toJson({ timestamp, value, ...record }: BusRecord): object {
  const shown = { ...record, timestamp: new Date(timestamp).toISOString() };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(value);
    return { ...shown, value: JSON.parse(text) as unknown };
  } catch {
    return { ...shown, valueBase64: Buffer.from(value).toString('base64') };
  }
}
