/** `tail`: shows the records of a topic, and is no consumer of it. */
import { gatewayTopics } from '@tollgate/gateway-api';
import type { ReadTopicOptions } from '@tollgate/message-bus';
import { Argument, type Command } from 'commander';
import { parseInstant } from './parse-time.ts';
import {
  type CommandResult,
  type CommandTools,
  type RunCommand,
  stopSignalOf,
  topicReaderOf,
} from './command.ts';
import { toRecordJson, toRecordLine } from './record-lines.ts';

interface Output {
  print: (text: string) => void;
  hasColours: boolean;
}

interface TailOptions {
  key?: string;
  from?: ReadTopicOptions['from'];
  follow?: boolean;
  json?: boolean;
}

export function registerTailCommands(program: Command, run: RunCommand, output: Output): void {
  program
    .command('tail')
    .description('show the records of a topic; consumers are not affected')
    .addArgument(new Argument('<topic>', 'which one').choices(gatewayTopics.map(({ topic }) => topic)))
    .option('--key <token>', 'only those of this payment, payout or dispute')
    .option(
      '--from <place>',
      'beginning, end, or an ISO 8601 time such as 2030-01-31T12:00:00Z (default: beginning, or end with --follow)',
      toPlace,
    )
    .option('--follow', 'show new records as they come, until Ctrl-C')
    .action((topic: string, _: unknown, command: Command) => {
      const options = command.optsWithGlobals<TailOptions>();
      return run((tools) => tail(tools, { ...output, topic, ...options }));
    });
}

function toPlace(text: string): ReadTopicOptions['from'] {
  if (text === 'beginning' || text === 'end') return text;
  return { timestamp: parseInstant(text) };
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
  }: Output & TailOptions & { topic: string },
): Promise<CommandResult> {
  if (from === 'end' && !follow)
    return { kind: 'usage', message: 'After --from end there are records to come only: add --follow.' };
  const options = {
    from: from ?? (follow ? 'end' : 'beginning'),
    isFollowing: follow,
    signal: stopSignalOf(tools),
  };
  for await (const record of topicReaderOf(tools).readTopic(topic, options)) {
    if (key !== undefined && record.key !== key) continue;
    print(`${json ? JSON.stringify(toRecordJson(record)) : toRecordLine(record, hasColours)}\n`);
  }
  return { kind: 'printed' };
}
