/** `ledger verify`: compares the balances of wallets with the events. */
import type { EventStore } from '@tollgate/event-store';
import { differencesOf, recomputeLedger } from '@tollgate/wallets';
import { openIndexForReading } from '@tollgate/lists';
import { type CommandResult, done } from '@tollgate/service-kit/command-line';
import { type CommandTools, number, stopSignalOf } from './tools.ts';

/** Compares the balances at the index's position, so that a gateway may run. */
export async function verifyLedger(tools: CommandTools): Promise<CommandResult> {
  const { store, directory, clock } = tools;
  const found = await balancesOf(directory.indexFile, store);
  const begunAt = clock.monotonic();
  const perSecond = (events: number) =>
    number(Math.round((events * 1_000) / Math.max(1, clock.monotonic() - begunAt)));
  const { events, standings, unbalanced } = await recomputeLedger({
    store,
    until: found?.position,
    signal: stopSignalOf(tools),
    onProgress: (count) => tools.progress(`${number(count)} events read, ${perSecond(count)}/s\n`),
  });
  const differences = found === undefined ? [] : differencesOf(standings, found.standings);
  const lines = [
    ...unbalanced.map((id) => `event ${id}: the postings do not sum to zero`),
    ...differences.map(
      ({ name, recomputed, found: has }) => `${name}: ${has}, and ${recomputed} by the events`,
    ),
  ];
  const json = { events, unbalanced, differences: differences.map(({ name }) => name) };
  if (lines.length > 0)
    return done(
      [...lines, 'Delete index.db while its process is stopped; it is rebuilt.'].join('\n'),
      json,
      1,
    );
  const compared =
    found === undefined
      ? 'No index of this release exists to compare with.'
      : 'The index has the same balances.';
  return done(
    `${number(events)} events read, ${perSecond(events)}/s. Every entry sums to zero. ${compared}`,
    json,
  );
}

async function balancesOf(file: string, store: EventStore) {
  const index = await openIndexForReading(file, { store });
  try {
    return index?.balances();
  } finally {
    index?.close();
  }
}
