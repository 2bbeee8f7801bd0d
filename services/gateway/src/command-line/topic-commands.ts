/** `topics create`, `topics check`. */
import { dayMs } from '@tollgate/service-kit';
import { gatewayTopics } from '@tollgate/gateway-api';
import type { TopicDifference, TopicSpec } from '@tollgate/message-bus';
import { type Command, InvalidArgumentError } from 'commander';
import { minInsyncReplicasOf } from '../configuration/kafka-config.ts';
import { recordAction } from './audit-commands.ts';
import type { CommandResult, CommandTools, RunCommand, TopicAdmin } from './command.ts';

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
  if (topicAdmin === undefined) {
    const text = 'Nothing is needed: on the embedded bus a topic is created by its first use.';
    return { kind: 'done', text, json: { needed: false, topics: [] } };
  }
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
