/** `compact`: gives the room that the embedded store has let go of back to the disk. */
import { compactEmbeddedStore, livingMembers } from '@tollgate/event-store';
import type { Command } from 'commander';
import { inMegabytes } from '../backup/make-backup.ts';
import type { CommandResult, CommandTools, RunCommand } from './command.ts';

export function registerCompactCommand(program: Command, run: RunCommand): void {
  program
    .command('compact')
    .description(
      'while no gateway runs: rewrite the embedded event store without the room that was let go of; needs that much room once more',
    )
    .action(() => run(compact));
}

async function compact({ store, clock, directory, isEmbedded = true }: CommandTools): Promise<CommandResult> {
  if (!isEmbedded) {
    const message =
      'The events are in EventStoreDB, which a scavenge makes smaller: see "EventStoreDB" in docs/operator/operations.md.';
    return { kind: 'refused', message };
  }
  const living = await livingMembers(store, clock);
  if (living.length > 0) return { kind: 'refused', message: toRunning(living.map(({ member }) => member)) };
  const compaction = compactEmbeddedStore(directory.eventsFile);
  const { bytesBefore, bytesAfter } = compaction;
  const text = `${directory.eventsFile} has ${inMegabytes(bytesAfter)}, and had ${inMegabytes(bytesBefore)}.`;
  return { kind: 'done', text, json: { file: directory.eventsFile, ...compaction } };
}

/** It would wait for the whole time, and refuse requests. */
const toRunning = (members: readonly string[]): string =>
  `Stop what runs first: ${members.join(', ')}. What was killed counts as running for half a minute.`;
