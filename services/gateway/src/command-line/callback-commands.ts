/** `callbacks dead-letters`, `callbacks replay`: callbacks of the Payment Service that can never be applied. */
import {
  decodeCallbackRecord,
  decodeDlqRecord,
  encodeReplayMark,
  providerCallbacksDlqTopic,
  providerCallbacksTopic,
  withoutDeadLetterReason,
} from '@tollgate/gateway-api';
import { type BusRecord, createEmbeddedMessageBus } from '@tollgate/message-bus';
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

/** A dead-lettered callback as it is listed. */
interface DeadLettered {
  /** Partition and offset. */
  offset: string;
  token: string;
  environment: string | undefined;
  reason: string;
  /** ISO 8601 in UTC. */
  receivedAt: string | undefined;
  /** False where another try cannot help: what was dead-lettered is no callback. */
  isReadable: boolean;
  isReplayed: boolean;
}

async function listDeadLetters(tools: CommandTools): Promise<CommandResult> {
  const deadLetters = (await readDeadLetters(tools)).filter(({ isReplayed }) => !isReplayed);
  const lines = deadLetters.map(({ offset, token, environment = '?', reason, receivedAt = '?' }) =>
    [offset, toShown(token), toShown(environment), receivedAt, toShown(reason)].join('  '),
  );
  const json = deadLetters.map(({ isReplayed: _, ...shown }) => shown);
  return { kind: 'done', text: lines.join('\n') || 'No callback is dead-lettered.', json };
}

/** A topic may hold anything. */
const toShown = (text: string): string => printable(text).slice(0, 300);

/** Without their bodies: there may be many. */
async function readDeadLetters(tools: CommandTools): Promise<DeadLettered[]> {
  const deadLetters = new Map<string, DeadLettered>();
  for await (const record of readTopic(tools)) {
    const decoded = decodeDlqRecord(record);
    if (decoded.kind === 'replayed') {
      const replayed = deadLetters.get(decoded.place);
      if (replayed !== undefined) replayed.isReplayed = true;
    } else {
      const { token, environment, reason, receivedAt: at } = decoded;
      const receivedAt = at === undefined ? undefined : new Date(at).toISOString();
      const isReadable = decodeCallbackRecord(record).kind === 'callback';
      const offset = placeOf(record);
      const shown = { offset, token, environment, reason, receivedAt, isReadable };
      deadLetters.set(offset, { ...shown, isReplayed: false });
    }
  }
  return [...deadLetters.values()];
}

async function replay(tools: CommandTools, offset: string | undefined): Promise<CommandResult> {
  const deadLetters = await readDeadLetters(tools);
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
    for await (const record of readTopic(tools)) {
      if (!places.has(placeOf(record))) continue;
      await bus.publish(providerCallbacksTopic, [withoutDeadLetterReason(record)]);
      // Marked after it: after a crash in between it is published a second time, which changes nothing.
      await bus.publish(providerCallbacksDlqTopic, [encodeReplayMark(record, placeOf(record))]);
    }
  } finally {
    await bus.close();
  }
}

/** Everything that is on the topic now. */
const readTopic = (tools: CommandTools): AsyncIterable<BusRecord> =>
  topicReaderOf(tools).readTopic(providerCallbacksDlqTopic, {
    from: 'beginning',
    signal: new AbortController().signal,
  });

const placeOf = ({ partition, offset }: BusRecord): string => `${partition}/${offset}`;
