import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runUnderLease } from '@tollgate/event-store';
import { readConfig, silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { readViewVersion } from '@tollgate/views';
import { expect, it, onTestFinished } from 'vitest';
import { gatewayConfigSchema } from '../../configuration/config.ts';
import { openDataDirectory } from '../../configuration/data-directory.ts';
import { createParts } from '../parts.ts';
import { startProjector } from './projector.ts';

// In a rollout the new projector stood by under the lease of the former release's, and counted as ready. So its views were
// first built when nobody kept the former ones any more, and the lists of the former query services stood still meanwhile.
it('works beside the projector of a release with other views', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-projector-'));
  const stops = new AsyncDisposableStack();
  onTestFinished(async () => {
    await stops.disposeAsync();
    rmSync(dataDir, { recursive: true });
  });
  const clockAndIds = { clock: systemClock, ids: systemIds };
  const config = readConfig(gatewayConfigSchema, { TOLLGATE_DATA_DIR: dataDir });
  const parts = createParts(
    { config, ...clockAndIds, env: {}, pid: process.pid, logOf: () => silentLog },
    { dataDirectory: openDataDirectory(dataDir), stops, runs: (service) => service === 'projector' },
  );
  const store = await parts.store();
  const ending = new AbortController();
  const former = Promise.withResolvers<undefined>();
  const lease = { store, ...clockAndIds, name: 'projector', holder: 'former', signal: ending.signal };
  const running = runUnderLease(lease, (signal) => {
    former.resolve(undefined);
    return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
  });
  stops.defer(async () => {
    ending.abort();
    await running;
  });
  await former.promise;
  const { notReady } = await startProjector(parts);
  await eventually(async () => expect((await readViewVersion(store)).revision).not.toBe('no-stream'));
  await eventually(async () => expect(await notReady?.()).toEqual([]));
});
