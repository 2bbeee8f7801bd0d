/** The name of this installation, written to the event store at its first start. */
import { notShown } from './errors.ts';
import type { EventStore } from './event-store.ts';
import type { Clock, Ids } from '@tollgate/service-kit';
import { z } from 'zod';

const stream = 'installation';
const namedSchema = z.object({ installation: z.string().min(1) });

/**
 * Tokens are derived from it, and so are the order numbers at the provider: an operation of another installation, or of an
 * earlier store of this one, is never mistaken for ours.
 *
 * @throws StoreUnavailable
 */
export async function nameOfInstallation(deps: {
  store: EventStore;
  clock: Clock;
  ids: Ids;
}): Promise<string> {
  const { store, clock, ids } = deps;
  const known = await read(store);
  if (known !== undefined) return known;
  const id = ids.uuid();
  const metadata = { recordedAt: clock.now() };
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

async function read(store: EventStore): Promise<string | undefined> {
  for await (const { data } of store.read(stream, { limit: 1 })) return namedSchema.parse(data).installation;
  return undefined;
}
