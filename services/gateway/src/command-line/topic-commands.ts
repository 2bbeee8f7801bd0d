/** `topics create`, `topics check`. */
import { gatewayTopics } from '@tollgate/gateway-events';
import type { TopicDifference, TopicSpec } from '@tollgate/message-bus';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandResult, CommandTools, RunCommand } from './program.ts';

/** Makes and compares topics, where they do not come to be when they are used. */
export interface TopicAdmin {
  /** Creates those that do not exist; gives what is different about the others. */
  ensureTopics(specs: readonly TopicSpec[]): Promise<TopicDifference[]>;
  /** Changes nothing. */
  checkTopics(specs: readonly TopicSpec[]): Promise<TopicDifference[]>;
}

interface TopicOptions {
  replication: number;
}

const replicationMax = 9;

export function registerTopicCommands(program: Command, run: RunCommand): void {
  const topics = program
    .command('topics')
    .description('the topics on Kafka: partitions, copies, how long they keep');
  topics
    .command('create')
    .description('create those that do not exist; those that do are left as they are')
    .addOption(replicationOption())
    .action((options: TopicOptions) => run((tools) => work(tools, options, 'ensureTopics')));
  topics
    .command('check')
    .description('compare them with what they have to be, and change nothing')
    .addOption(replicationOption())
    .action((options: TopicOptions) => run((tools) => work(tools, options, 'checkTopics')));
}

const replicationOption = () =>
  new Option(
    '--replication <count>',
    'copies of each record, one of which may be missing when there are more than one',
  )
    .default(3)
    .argParser((text: string) => {
      const count = Number(text);
      if (!/^\d$/.test(text) || count < 1)
        throw new InvalidArgumentError(`It is a number from 1 to ${replicationMax}.`);
      return count;
    });

const toSpecs = ({ replication }: TopicOptions): TopicSpec[] =>
  gatewayTopics.map((topic) => ({ ...topic, replication, minInsyncReplicas: Math.max(1, replication - 1) }));

async function work(
  { topicAdmin }: CommandTools,
  options: TopicOptions,
  operation: keyof TopicAdmin,
): Promise<CommandResult> {
  const specs = toSpecs(options);
  if (topicAdmin === undefined) {
    const text = 'Nothing is needed: on the embedded bus a topic comes to be when it is used.';
    return { kind: 'done', text, json: { needed: false, topics: [] } };
  }
  const differences = await topicAdmin[operation](specs);
  if (differences.length > 0) return { kind: 'refused', message: toSentence(differences) };
  return { kind: 'done', text: specs.map(toLine).join('\n'), json: { needed: true, topics: specs } };
}

const toSentence = (differences: readonly TopicDifference[]): string =>
  `Not as it has to be: ${differences.map(toClause).join('; ')}.`;

const toClause = ({ topic, setting, expected, actual }: TopicDifference): string =>
  setting === 'topic' ? `${topic} ${actual}` : `${topic} has ${setting} ${actual} and not ${expected}`;

const dayMs = 86_400_000;

function toLine({ topic, partitions, replication, retentionMs, cleanup }: TopicSpec): string {
  const kept = retentionMs === 'forever' ? 'kept for ever' : `kept for ${retentionMs / dayMs} days`;
  const size = `partitions ${String(partitions).padStart(2)}, copies ${replication}`;
  return `${topic.padEnd(26)} ${size}, ${kept}${cleanup === 'compact' ? ', compacted' : ''}`;
}
