/** `npm run test:clients`: a foreign client finds the same in the test server as in a real one. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { servedStore } from '../eventstoredb-store.ts';

const folder = join(import.meta.dirname, '..', '..', '..', '..', '..', 'infra', 'clients');

const upTo = (last: number) => Array.from({ length: last + 1 }, (_, revision) => revision);

// Reads without a limit, appends of a client that half-closed early, and subscriptions to a stream all failed.
it('the Python client of KurrentDB reads, appends and subscribes', async () => {
  const { server } = await servedStore();
  const { stdout } = await promisify(execFile)('python3', [join(folder, 'kurrentdb_client.py'), server.url], {
    env: { ...process.env, PYTHONPATH: process.env['CLIENTS_IN_PYTHON'] },
  });
  expect(JSON.parse(stdout)).toEqual({
    conflict: true,
    missing: true,
    version: 4,
    metadata: { $correlationId: 'story' },
    stream: upTo(4),
    backwards: upTo(4).reverse(),
    part: [2, 3],
    all: upTo(4),
    allBackwards: upTo(4).reverse(),
    followedStream: upTo(5),
    followedFrom: [4, 5, 6],
    followedAll: upTo(7),
    followedType: upTo(8),
    kept: [7, 8],
    followedKept: [7, 8, 9],
  });
});
