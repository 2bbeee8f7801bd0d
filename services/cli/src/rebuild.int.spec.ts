import { temporaryStore } from '@tollgate/event-store/testing';
import { liveIn, readViewVersion, viewSchemaVersions } from '@tollgate/views';
import { appendPayment, paymentViewStream, writeViewVersions } from '@tollgate/view-index/testing';
import { happening, requested } from '@tollgate/views/testing';
import { systemClock, systemIds } from '@tollgate/service-kit';
import { expect, it } from 'vitest';
import { runWith, toolsWith } from './testing/run-with.ts';

async function start() {
  const store = await temporaryStore();
  const stopping = new AbortController();
  const tools = toolsWith({ store, clock: systemClock, stopSignal: () => stopping.signal });
  const run = (command: string) => runWith(tools, command);
  await appendPayment(store, 'p1', [requested(), happening.accepted]);
  return { store, run, stop: () => stopping.abort() };
}

it('rebuild builds everything, says so and switches, every time', async () => {
  const { store, run } = await start();
  const first = await run('rebuild');
  expect(first).toMatchObject({ exitCode: 0, error: '' });
  expect(first.out).toMatch(
    /All read models were built again .*; view version 2 is live\. The projector removes [^.]+\.\n$/,
  );
  expect(JSON.parse((await run('rebuild --json')).out)).toMatchObject({ kind: 'switched', viewVersion: 3 });
  expect(liveIn((await readViewVersion(store)).record)).toBe(3);
});

it('rebuild --check says that all is well, or names what is not and ends with 1', async () => {
  const { store, run } = await start();
  await run('rebuild');
  const well = await run('rebuild --check');
  expect(well).toEqual({
    exitCode: 0,
    out: '1 views are what their events give. Nobody reads view version 1 any more: the projector removes it.\n',
    error: '',
  });
  const stream = paymentViewStream('p1').replace('view_', 'view2_');
  const event = { id: systemIds.uuid(), type: 'PaymentViewWritten', data: {}, metadata: {} };
  await store.append(stream, [event], 'any');
  const bad = await run('rebuild --check');
  expect(bad).toMatchObject({ exitCode: 1, out: `${stream}\n` });
  expect(bad.error).toMatch(/^1 read models are not what their events give; [^\n]+\.\n$/);
  const json = await run('rebuild --check --json');
  expect(json).toMatchObject({ exitCode: 1, out: '' });
  expect(json.error).toContain(stream);
});

it('rebuild --drop-other-releases gives up what other releases read, and nothing that this one does', async () => {
  const { store, run } = await start();
  const drop = () => run('rebuild --drop-other-releases');
  expect(await drop()).toMatchObject({ exitCode: 0, out: 'There are no read models of other releases.\n' });
  const own = { number: 2, schemas: viewSchemaVersions, state: 'live' } as const;
  await writeViewVersions(store, [{ number: 1, schemas: 'of before', state: 'live' }, own]);
  expect(await drop()).toMatchObject({ exitCode: 0, out: expect.stringContaining('View version 1 of') });
  expect((await readViewVersion(store)).record.versions).toEqual([own]);
  await writeViewVersions(store, [{ number: 1, schemas: 'of before', state: 'live' }]);
  expect(await drop()).toMatchObject({ exitCode: 1, error: expect.stringContaining('start its projector') });
});

it('a rebuild that is stopped has not switched, says so, and can be begun again', async () => {
  const { store, run, stop } = await start();
  stop();
  const { exitCode, error } = await run('rebuild');
  expect([exitCode, error]).toEqual([1, expect.stringContaining('start it again')]);
  expect(liveIn((await readViewVersion(store)).record)).toBe(1);
});
