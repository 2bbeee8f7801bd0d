import type { RecordedEvent } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { expect, it, onTestFinished } from 'vitest';
import { followRows } from './delivery-list.ts';

const full = Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR' });

// While the disk of temporary files was full, failed webhooks were passed over for good: nobody found them to replay them.
it('applies again what the file did not take, and passes over only what cannot be read', async () => {
  const store = await temporaryStore();
  const failures: Record<string, Error[]> = {
    'webhook-2': [full, full],
    'webhook-3': [new RangeError('unknown event type')],
  };
  const applied: string[] = [];
  const rows = {
    apply: ({ stream }: RecordedEvent) => {
      const failure = failures[stream]?.shift();
      if (failure !== undefined) throw failure;
      applied.push(stream);
    },
    removeBefore: () => undefined,
    close: () => undefined,
  };
  for (const number of [1, 2, 3, 4])
    await store.append(
      `webhook-${number}`,
      [{ id: systemIds.uuid(), type: 'Any', data: {}, metadata: {} }],
      'no-stream',
    );
  const deps = { store, clock: systemClock, ids: systemIds, log: silentLog, retentionMs: 1 };
  const list = followRows(deps, { name: 'spec', prefixes: ['webhook-'], openRows: () => rows });
  onTestFinished(() => list.stop());
  await list.rows().catch(() => undefined);
  await eventually(() => expect(applied).toEqual(['webhook-1', 'webhook-2', 'webhook-4']));
});
