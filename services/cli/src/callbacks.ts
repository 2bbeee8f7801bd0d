/** `callbacks …`: dead-lettered callbacks of the Payment Service. */
import { publishDeadLettersAgain, readDeadLetters } from '@tollgate/core';
import { createEmbeddedMessageBus } from '@tollgate/message-bus';
import { type CommandResult, done, printable, refuse } from '@tollgate/service-kit/command-line';
import { type CommandTools, recordAction, topicReaderOf } from './tools.ts';

export async function listDeadLetters(tools: CommandTools): Promise<CommandResult> {
  const deadLetters = (await readDeadLetters(topicReaderOf(tools))).filter(({ isReplayed }) => !isReplayed);
  const lines = deadLetters.map(({ offset, token, environment = '?', reason, receivedAt = '?' }) =>
    [offset, toShown(token), toShown(environment), receivedAt, toShown(reason)].join('  '),
  );
  const json = deadLetters.map(({ isReplayed: _, ...shown }) => shown);
  return done(lines.join('\n') || 'No callback is dead-lettered.', json);
}

/** A topic may contain arbitrary records. */
const toShown = (text: string): string => printable(text).slice(0, 300);

export async function replayCallbacks(
  tools: CommandTools,
  { offset }: { offset: string | undefined },
): Promise<CommandResult> {
  const deadLetters = await readDeadLetters(topicReaderOf(tools));
  const chosen = deadLetters.filter((each) =>
    offset === undefined ? !each.isReplayed && each.isReadable : each.offset === offset,
  );
  if (offset !== undefined && chosen.length === 0)
    return refuse(`No dead-lettered callback is at ${offset}.`);
  const offsets = chosen.map((each) => each.offset);
  if (offsets.length > 0)
    await recordAction(tools, 'callbacks replay', { offsets: offsets.slice(0, 100), count: offsets.length });
  if (offsets.length > 0) await publishAgain(tools, new Set(offsets));
  const unreadable = deadLetters.filter((each) => !each.isReplayed && !each.isReadable).length;
  const rest =
    offset === undefined && unreadable > 0 ? ` ${unreadable} omitted, because they are not callbacks.` : '';
  const text = `Published again: ${offsets.length === 0 ? 'none' : offsets.join(' ')}.${rest}`;
  return done(text, offsets);
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
