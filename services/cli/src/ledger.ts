/**
 * `ledger verify` and `transfer`: compares the balances of wallets with the events, and transfers money between them.
 */
import { nameOfInstallation } from '@tollgate/core';
import type { EventStore } from '@tollgate/event-store';
import { formatAmount } from '@tollgate/core/money';
import { bodySchemas } from '@tollgate/gateway-api/http';
import { createWalletReservations, differencesOf, recomputeLedger, transferMoney } from '@tollgate/ledger';
import { openIndexForReading } from '@tollgate/lists';
import {
  type CommandResult,
  type ValuesOf,
  done,
  option,
  refuse,
  requiredOption,
  text,
} from '@tollgate/service-kit/command-line';
import * as read from './parameters.ts';
import {
  type CommandTools,
  causeOf,
  number,
  openTemporaryIndex,
  recordAction,
  stopSignalOf,
} from './tools.ts';

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

export const transferParameters = {
  account: read.account,
  environment: read.environmentOf('of the account'),
  currency: requiredOption('<code>', 'ISO 4217 alphabetic code in capitals', read.currency),
  amount: requiredOption('<sum>', 'in minor units', read.sumFrom(1)),
  from: requiredOption('<wallet>', 'that the money leaves', text),
  to: requiredOption('<wallet>', 'that gets it', text),
  reason: requiredOption('<text>', 'reason; recorded with the transfer', text),
  key: option('<key>', 'idempotency key: a repeat with it moves nothing; a new one by default', text),
};
type TransferOptions = ValuesOf<typeof transferParameters>;

export async function transfer(
  tools: CommandTools,
  { key: given, ...options }: TransferOptions,
): Promise<CommandResult> {
  const parsed = bodySchemas.TransferRequest.safeParse(options);
  if (!parsed.success) {
    const [{ path, message } = { path: [], message: '' }] = parsed.error.issues;
    return { kind: 'usage', message: `--${path.join('.')} ${message}.` };
  }
  const key = given ?? tools.ids.uuid();
  const installation = await nameOfInstallation(tools);
  await recordAction(tools, 'transfer', { ...parsed.data, key });
  await using stops = new AsyncDisposableStack();
  const index = await openIndex(tools, stops);
  // Another process's reservation has lapsed only for a process that has observed it.
  const reservations = createWalletReservations({
    ...tools,
    index,
    quietPeriods: { hasLapsed: () => false },
  });
  const result = await transferMoney(
    { ...tools, installation, reservations },
    { key, transfer: parsed.data, cause: causeOf(tools) },
  );
  const { amount, currency, from, to } = parsed.data;
  if (result.kind === 'transferred')
    return done(`${formatAmount(amount, currency)} moved from ${from} to ${to}: ${result.token}.`, {
      token: result.token,
      key,
      replayed: result.replayed,
    });
  const { refusal } = result;
  return refuse(
    'availableAmount' in refusal
      ? `${from} has only ${formatAmount(refusal.availableAmount, currency)} available in this account. Nothing was moved.`
      : `Not moved (${refusal.code}): --key ${key} is that of another transfer.`,
  );
}

/** The index of the gateway on this machine; without one, a temporary index. */
async function openIndex(tools: CommandTools, stops: AsyncDisposableStack) {
  const found = await openIndexForReading(tools.directory.indexFile, tools);
  if (found !== undefined) {
    stops.defer(() => found.close());
    return found;
  }
  return openTemporaryIndex(tools, stops);
}
