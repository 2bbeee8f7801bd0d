/** The name of this installation, written to the event store at its first start. */
import { type EventStore, beginning, notShown } from '@tollgate/event-store';
import { firstSchemaVersion } from '../domain/schema-version.ts';
import { paymentStreamPrefix } from '../domain/payment/payment-events.ts';
import { payoutStreamPrefix } from '../domain/payout/payout-events.ts';
import { type Clock, type Ids, StartupError } from '@tollgate/service-kit';
import { z } from 'zod';

const stream = 'installation';
const namedSchema = z.object({ installation: z.string().min(1) });

/**
 * Tokens are derived from it, and so are the order numbers at the provider: an operation of another installation, or of an
 * earlier store of this one, is never mistaken for ours.
 *
 * @throws StoreUnavailable; StartupError if the store was written by a version that gave it no name
 */
export async function nameOfInstallation(deps: {
  store: EventStore;
  clock: Clock;
  ids: Ids;
}): Promise<string> {
  const { store, clock, ids } = deps;
  const known = await read(store);
  if (known !== undefined) return known;
  if (await hasPayments(store)) {
    // Another process may have set the name, and taken payments, since the read.
    const given = await read(store);
    if (given !== undefined) return given;
    throw new StartupError('store_of_another_version', anotherVersion);
  }
  const id = ids.uuid();
  const metadata = { schemaVersion: firstSchemaVersion, recordedAt: clock.now() };
  await store.append(
    stream,
    [{ id, type: 'InstallationNamed', data: { installation: id }, metadata }],
    'no-stream',
  );
  // If several processes start at once, the first one sets the name.
  const named = await read(store);
  if (named === undefined) throw notShown(stream);
  return named;
}

/**
 * Earlier versions derived tokens differently and used other event names: a replay would create a new payment, and its
 * money would be lost track of.
 */
const anotherVersion =
  'The event store holds payments of a version before the first release, which this version cannot read. Start with an empty data directory (TOLLGATE_DATA_DIR) or event store, or use the version that wrote it.';

async function hasPayments(store: EventStore): Promise<boolean> {
  const enough = new AbortController();
  const prefixes = [paymentStreamPrefix, payoutStreamPrefix];
  for await (const { kind } of store.subscribe({ from: beginning, prefixes, signal: enough.signal })) {
    enough.abort();
    return kind === 'event';
  }
  return false;
}

async function read(store: EventStore): Promise<string | undefined> {
  for await (const { data } of store.read(stream, { limit: 1 })) return namedSchema.parse(data).installation;
  return undefined;
}
