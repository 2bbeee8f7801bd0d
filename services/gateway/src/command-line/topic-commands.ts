/** `topics create`, `topics check`, `topics republish`. */
import { publishedTopics, requestRepublication } from '@tollgate/event-publisher';
import { gatewayTopics } from '@tollgate/gateway-api';
import type { TopicDifference, TopicSpec } from '@tollgate/message-bus';
import { dayMs } from '@tollgate/service-kit';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { minInsyncReplicasOf } from '../configuration/kafka-config.ts';
import { recordAction } from './audit-commands.ts';
import type { CommandResult, CommandTools, RunCommand, TopicAdmin } from './command.ts';
import { parseInstant } from './parse-time.ts';

export function registerTopicCommands(program: Command, run: RunCommand): void {
  const topics = program
    .command('topics')
    .description('the topics on Kafka: partitions, copies, how long they keep');
  const add = (name: string, operation: keyof TopicAdmin, description: string) =>
    topics
      .command(name)
      .description(description)
      .option(
        '--replication <count>',
        'copies of each record, one of which may be missing when there are more than one',
        toReplication,
        3,
      )
      .action(({ replication }: { replication: number }) =>
        run((tools) => work(tools, replication, operation)),
      );
  add('create', 'ensureTopics', 'create those that do not exist; those that do are left as they are');
  add('check', 'checkTopics', 'compare them with what they have to be, and change nothing');
  topics
    .command('republish')
    .description('have the publisher publish events again, with the same ce_ids, after a topic lost records')
    .addOption(
      new Option('--topic <topic>', 'only the events of this topic').choices(publishedTopics.toSorted()),
    )
    .option(
      '--from <time>',
      'events recorded at this ISO 8601 time or later (default: all events)',
      parseInstant,
    )
    .action(({ topic, from }: { topic?: string; from?: number }) =>
      run((tools) => republish(tools, topic === undefined ? publishedTopics : [topic], from)),
    );
}

const withoutKafka = 'Nothing is needed: without Kafka, the topics are computed when they are read.';

async function republish(
  tools: CommandTools,
  topics: readonly string[],
  since: number | undefined,
): Promise<CommandResult> {
  if (tools.topicAdmin === undefined) return { kind: 'done', text: withoutKafka, json: { needed: false } };
  const from = since === undefined ? 'beginning' : new Date(since).toISOString();
  await recordAction(tools, 'topics republish', { topics, from });
  if (!(await requestRepublication(tools, { topics, since })))
    return { kind: 'refused', message: 'Nothing was published yet.' };
  const text = `The publisher publishes again from ${from}: ${topics.join(', ')}. Follow tollgate_publisher_lag_seconds.`;
  return { kind: 'done', text, json: { needed: true, topics, from } };
}

function toReplication(text: string): number {
  if (!/^[1-9]$/.test(text)) throw new InvalidArgumentError('It is a number from 1 to 9.');
  return Number(text);
}

async function work(
  tools: CommandTools,
  replication: number,
  operation: keyof TopicAdmin,
): Promise<CommandResult> {
  const { topicAdmin } = tools;
  if (topicAdmin === undefined)
    return { kind: 'done', text: withoutKafka, json: { needed: false, topics: [] } };
  const minInsyncReplicas = minInsyncReplicasOf(replication);
  const specs = gatewayTopics.map((topic) => ({ ...topic, replication, minInsyncReplicas }));
  if (operation === 'ensureTopics') await recordAction(tools, 'topics create', { replication });
  const differences = await topicAdmin[operation](specs);
  if (differences.length > 0) return { kind: 'refused', message: toSentence(differences) };
  return { kind: 'done', text: specs.map(toLine).join('\n'), json: { needed: true, topics: specs } };
}

const toSentence = (differences: readonly TopicDifference[]): string =>
  `Not as it has to be: ${differences.map(toClause).join('; ')}.`;

const toClause = ({ topic, setting, expected, actual }: TopicDifference): string =>
  setting === 'topic' ? `${topic} ${actual}` : `${topic} has ${setting} ${actual} and not ${expected}`;

function toLine({ topic, partitions, replication, retentionMs, cleanup }: TopicSpec): string {
  const kept = retentionMs === 'forever' ? 'kept for ever' : `kept for ${retentionMs / dayMs} days`;
  const size = `partitions ${String(partitions).padStart(2)}, copies ${replication}`;
  return `${topic.padEnd(26)} ${size}, ${kept}${cleanup === 'compact' ? ', compacted' : ''}`;
}
