/** `callbacks dead-letters`, `callbacks replay`: callbacks of the Payment Service that could not be applied. */
import {
  decodeCallbackRecord,
  decodeDlqRecord,
  encodeReplayMark,
  providerCallbacksDlqTopic,
  providerCallbacksTopic,
  withoutDeadLetterReason,
} from '@tollgate/gateway-events';
import { type BusRecord, type MessageBus, createEmbeddedMessageBus } from '@tollgate/message-bus';
import { type Clock, type Ids, TollgateError } from '@tollgate/service-kit';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { CommandResult, CommandTools, RunCommand } from './program.ts';

/** Opens the bus that the gateway uses. What it is built on is closed by whoever opened that. */
export type OpenBus = (tools: CommandTools) => Promise<MessageBus>;

const openBusOfGateway: OpenBus = async ({ openBus, store, clock, ids, log }) =>
  openBus?.() ?? createEmbeddedMessageBus({ store, clock, ids, log, holder: `tollgate-cli.${ids.hex(6)}` });

/** How long all of the topic may take to read, milliseconds. */
const readWithinMs = 60_000;

export function registerCallbackCommands(
  program: Command,
  run: RunCommand,
  openBus: OpenBus = openBusOfGateway,
): void {
  const callbacks = program
    .command('callbacks')
    .description('callbacks of the Payment Service that could not be applied, and are dead-lettered');
  callbacks
    .command('dead-letters')
    .description('list those that were not published again yet')
    .action(() => run((tools) => withBus(tools, openBus, listDeadLetters)));
  callbacks
    .command('replay')
    .description('publish dead-lettered callbacks again, to be applied by the running gateway')
    .addOption(
      new Option('--offset <partition/offset>', 'the one of this place').argParser(toPlace).conflicts('all'),
    )
    .option('--all', 'all that were not published again yet')
    .action(({ offset, all }: { offset?: string; all?: boolean }) =>
      run(async (tools) => {
        if (offset === undefined && all !== true)
          return { kind: 'usage', message: 'Say which: --offset <partition/offset>, or --all.' };
        return withBus(tools, openBus, (access) => replay(access, offset));
      }),
    );
}

function toPlace(text: string): string {
  if (/^\d{1,9}\/\d{1,19}$/.test(text)) return text;
  throw new InvalidArgumentError('It is not a partition and an offset such as 3/17.');
}

interface BusAccess {
  bus: MessageBus;
  clock: Clock;
  ids: Ids;
}

async function withBus(
  tools: CommandTools,
  openBus: OpenBus,
  work: (access: BusAccess) => Promise<CommandResult>,
): Promise<CommandResult> {
  const bus = await openBus(tools);
  try {
    return await work({ bus, clock: tools.clock, ids: tools.ids });
  } finally {
    await bus.close();
  }
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

async function listDeadLetters(access: BusAccess): Promise<CommandResult> {
  const deadLetter = (await readDeadLetters(access)).filter(({ isReplayed }) => !isReplayed);
  const lines = deadLetter.map(
    ({ offset, token, environment = '?', reason, receivedAt = '?' }) =>
      `${offset}  ${toShown(token)}  ${toShown(environment)}  ${receivedAt}  ${toShown(reason)}`,
  );
  const json = deadLetter.map(({ isReplayed: _, ...shown }) => shown);
  return { kind: 'done', text: lines.join('\n') || 'No callback is dead-lettered.', json };
}

// A terminal obeys what is written to it, and a topic may hold anything.
const toShown = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}]/gu, '?').slice(0, 300);

/** Without their bodies: there may be many. */
async function readDeadLetters(access: BusAccess): Promise<DeadLettered[]> {
  const deadLetter = new Map<string, DeadLettered>();
  await readTopic(access, async (batch) => {
    for (const record of batch) {
      const decoded = decodeDlqRecord(record);
      if (decoded.kind === 'replayed') {
        const replayed = deadLetter.get(decoded.place);
        if (replayed !== undefined) replayed.isReplayed = true;
        continue;
      }
      const { token, environment, reason, receivedAt } = decoded;
      const at = receivedAt === undefined ? undefined : new Date(receivedAt).toISOString();
      const isReadable = decodeCallbackRecord(record).kind === 'callback';
      const offset = placeOf(record);
      deadLetter.set(offset, {
        offset,
        token,
        environment,
        reason,
        receivedAt: at,
        isReadable,
        isReplayed: false,
      });
    }
  });
  return [...deadLetter.values()];
}

async function replay(access: BusAccess, offset: string | undefined): Promise<CommandResult> {
  const deadLetter = await readDeadLetters(access);
  const chosen = deadLetter.filter((each) =>
    offset === undefined ? !each.isReplayed && each.isReadable : each.offset === offset,
  );
  if (offset !== undefined && chosen.length === 0)
    return { kind: 'refused', message: `No dead-lettered callback is at ${offset}.` };
  const offsets = chosen.map((each) => each.offset);
  if (offsets.length > 0) await publishAgain(access, new Set(offsets));
  const unreadable = deadLetter.filter((each) => !each.isReplayed && !each.isReadable).length;
  const rest =
    offset === undefined && unreadable > 0 ? ` ${unreadable} left out: they are no callbacks.` : '';
  const text = `Published again: ${offsets.length === 0 ? 'none' : offsets.join(' ')}.${rest}`;
  return { kind: 'done', text, json: offsets };
}

async function publishAgain(access: BusAccess, places: ReadonlySet<string>): Promise<void> {
  const { bus } = access;
  await readTopic(access, async (batch) => {
    const chosen = batch.filter((record) => places.has(placeOf(record)));
    if (chosen.length === 0) return;
    await bus.publish(providerCallbacksTopic, chosen.map(withoutDeadLetterReason));
    // Marked after it: after a crash in between it is published a second time, which changes nothing.
    await bus.publish(
      providerCallbacksDlqTopic,
      chosen.map((record) => encodeReplayMark(record, placeOf(record))),
    );
  });
}

const placeOf = ({ partition, offset }: BusRecord): string => `${partition}/${offset}`;

/**
 * Hands over everything that is on the topic now, as a consumer group of its own.
 *
 * @throws what `handle` throws; TollgateError `topic_read_too_slow`
 */
async function readTopic(
  { bus, clock, ids }: BusAccess,
  handle: (batch: readonly BusRecord[]) => Promise<void>,
): Promise<void> {
  const lasts = await bus.lastPerPartition(providerCallbacksDlqTopic);
  const awaited = new Map(lasts.map(({ partition, offset }) => [partition, BigInt(offset)]));
  if (awaited.size === 0) return;
  const done = new AbortController();
  let failure: { error: unknown } | undefined;
  const subscription = {
    group: `tollgate-cli-${ids.hex(8)}`,
    topics: [providerCallbacksDlqTopic],
    signal: done.signal,
  };
  clock.sleep(readWithinMs, done.signal).then(
    () => done.abort(),
    () => undefined,
  );
  await bus.subscribe(subscription, async (batch) => {
    if (failure !== undefined) return;
    try {
      await handle(batch);
      for (const { partition, offset } of batch)
        if (BigInt(offset) >= (awaited.get(partition) ?? -1n)) awaited.delete(partition);
    } catch (error) {
      // Rejecting would bring the same batch again and again.
      failure = { error };
    }
    if (failure !== undefined || awaited.size === 0) done.abort();
  });
  if (failure !== undefined) throw failure.error;
  if (awaited.size > 0)
    throw new TollgateError(
      'topic_read_too_slow',
      'The dead-lettered callbacks could not be read in a minute.',
    );
}
