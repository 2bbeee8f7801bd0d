/** `tail`: looks at a topic without taking part in it. */
import { gatewayTopics } from '@tollgate/gateway-events';
import { type ReadTopicOptions, createEmbeddedTopicReader } from '@tollgate/message-bus';
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import type { CliOutput, CommandResult, CommandTools, RunCommand } from './program.ts';
import { toRecordJson, toRecordLine } from './record-lines.ts';

interface TailOptions {
  key?: string;
  from?: ReadTopicOptions['from'];
  follow?: boolean;
  json?: boolean;
}

export function registerTailCommands(program: Command, run: RunCommand, output: CliOutput): void {
  program
    .command('tail')
    .description('show the records of a topic; no consumer notices')
    .addArgument(new Argument('<topic>', 'which one').choices(gatewayTopics.map(({ topic }) => topic)))
    .option('--key <token>', 'only those of this payment, payout or dispute')
    .addOption(
      new Option(
        '--from <place>',
        'beginning, end, or an ISO 8601 time such as 2030-01-31T12:00:00Z (default: beginning, or end with --follow)',
      ).argParser(toPlace),
    )
    .option('--follow', 'go on with those that come, until you stop it')
    .action((topic: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<TailOptions>();
      return run((tools) => tail(tools, { ...output, topic, ...options }));
    });
}

const timeSchema = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);

function toPlace(text: string): ReadTopicOptions['from'] {
  if (text === 'beginning' || text === 'end') return text;
  if (!timeSchema.safeParse(text).success)
    throw new InvalidArgumentError('It is neither beginning nor end nor an ISO 8601 time.');
  return { timestamp: Date.parse(text) };
}

async function tail(
  tools: CommandTools,
  {
    topic,
    key,
    from,
    follow = false,
    json = false,
    print,
    hasColours,
  }: CliOutput & TailOptions & { topic: string },
): Promise<CommandResult> {
  if (from === 'end' && !follow)
    return { kind: 'usage', message: 'After --from end there are records to come only: add --follow.' };
  const reader = tools.topicReader ?? createEmbeddedTopicReader(tools);
  const options = {
    from: from ?? (follow ? 'end' : 'beginning'),
    isFollowing: follow,
    signal: tools.stopSignal?.() ?? new AbortController().signal,
  };
  for await (const record of reader.readTopic(topic, options)) {
    if (key !== undefined && record.key !== key) continue;
    print(`${json ? JSON.stringify(toRecordJson(record)) : toRecordLine(record, hasColours)}\n`);
  }
  return { kind: 'printed' };
}
