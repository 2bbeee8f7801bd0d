import { PassThrough } from 'node:stream';
import type { EventStoreDBClient, Filter } from '@eventstore/db-client';
import { expect, it, onTestFinished } from 'vitest';
import { beginning } from '../event-store.ts';
import { openFeed } from './feed.ts';
import { toPosition } from './position.ts';

/** A feed of a silent client, and the client's handler of checkpoint reports. */
function givenFeed() {
  let filter: Filter | undefined;
  const stream = Object.assign(new PassThrough({ objectMode: true }), { unsubscribe: async () => {} });
  const subscribeToAll = (options: { filter?: Filter }) => {
    filter = options.filter;
    return stream;
  };
  const client = { subscribeToAll } as unknown as EventStoreDBClient;
  const feed = openFeed(client, { after: beginning, prefixes: ['a-'] });
  onTestFinished(feed.close);
  const checkpointReached = async (place: bigint) => {
    await filter?.checkpointReached?.(stream, { commit: place, prepare: place });
  };
  return { feed, checkpointReached };
}

it('ignores a checkpoint whose position the server does not know', async () => {
  // An exception there is not handled: the client would stop, and the process end.
  const { feed, checkpointReached } = givenFeed();
  await expect(checkpointReached(2n ** 64n - 1n)).resolves.toBeUndefined();
  expect(feed.checkpoint()).toBeUndefined();
  await checkpointReached(7n);
  await checkpointReached(2n ** 64n - 1n);
  expect(feed.checkpoint()).toBe(toPosition({ commit: 7n, prepare: 7n }));
});
