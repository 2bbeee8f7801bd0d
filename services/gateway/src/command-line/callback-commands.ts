/** `callbacks dead-letters`, `callbacks replay`: callbacks of the Payment Service that can never be applied. */
import { publishDeadLettersAgain, readDeadLetters } from '@tollgate/command-service';
import { createEmbeddedMessageBus } from '@tollgate/message-bus';
import { printable } from '@tollgate/service-kit/command-line';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { recordAction } from './audit-commands.ts';
import { type CommandResult, type CommandTools, type RunCommand, topicReaderOf } from './command.ts';

export function registerCallbackCommands(program: Command, run: RunCommand): void {
  const callbacks = program
    .command('callbacks')
    .description('dead-lettered callbacks: those of the Payment Service that can never be applied');
  callbacks
    .command('dead-letters')
    .description('list those that were not published again yet')
    .action(() => run(listDeadLetters));
  const replaying: Command = callbacks
    .command('replay')
    .description('publish dead-lettered callbacks again; the running gateway applies them')
    .addOption(
      new Option('--offset <partition/offset>', 'the one at this place').argParser(toPlace).conflicts('all'),
    )
    .option('--all', 'all that were not published again yet')
    .action(({ offset, all }: { offset?: string; all?: boolean }) => {
      if (offset === undefined && all !== true)
        replaying.error("error: missing option '--offset <partition/offset>' or '--all'");
      return run((tools) => replay(tools, offset));
    });
}

function toPlace(text: string): string {
  if (/^\d{1,9}\/\d{1,19}$/.test(text)) return text;
  throw new InvalidArgumentError('It is not a partition and an offset such as 3/17.');
}

async function listDeadLetters(tools: CommandTools): Promise<CommandResult> {
  const deadLetters = (await readDeadLetters(topicReaderOf(tools))).filter(({ isReplayed }) => !isReplayed);
  const lines = deadLetters.map(({ offset, token, environment = '?', reason, receivedAt = '?' }) =>
    [offset, toShown(token), toShown(environment), receivedAt, toShown(reason)].join('  '),
  );
  const json = deadLetters.map(({ isReplayed: _, ...shown }) => shown);
  return { kind: 'done', text: lines.join('\n') || 'No callback is dead-lettered.', json };
}

/** A topic may hold anything. */
const toShown = (text: string): string => printable(text).slice(0, 300);

async function replay(tools: CommandTools, offset: string | undefined): Promise<CommandResult> {
  const deadLetters = await readDeadLetters(topicReaderOf(tools));
  const chosen = deadLetters.filter((each) =>
    offset === undefined ? !each.isReplayed && each.isReadable : each.offset === offset,
  );
  if (offset !== undefined && chosen.length === 0)
    return { kind: 'refused', message: `No dead-lettered callback is at ${offset}.` };
  const offsets = chosen.map((each) => each.offset);
  if (offsets.length > 0)
    await recordAction(tools, 'callbacks replay', { offsets: offsets.slice(0, 100), count: offsets.length });
  if (offsets.length > 0) await publishAgain(tools, new Set(offsets));
  const unreadable = deadLetters.filter((each) => !each.isReplayed && !each.isReadable).length;
  const rest =
    offset === undefined && unreadable > 0 ? ` ${unreadable} left out: they are no callbacks.` : '';
  const text = `Published again: ${offsets.length === 0 ? 'none' : offsets.join(' ')}.${rest}`;
  return { kind: 'done', text, json: offsets };
}

async function publishAgain(tools: CommandTools, places: ReadonlySet<string>): Promise<void> {
  const { openBus, store, clock, ids, log } = tools;
  const bus =
    openBus?.() ?? createEmbeddedMessageBus({ store, clock, ids, log, holder: `tollgate-cli.${ids.hex(6)}` });
  try {
    await publishDeadLettersAgain({ bus, topicReader: topicReaderOf(tools) }, places);
  } finally {
    await bus.close();
  }
}
