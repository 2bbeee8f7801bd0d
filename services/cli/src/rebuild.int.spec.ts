import { temporaryStore } from '@tollgate/event-store/testing';
import { appendPayment, paymentViewStream, happening, requested } from '@tollgate/views/testing';
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

it('rebuild writes the views that differ, and reports them', async () => {
  const { store, run } = await start();
  const first = await run('rebuild');
  expect(first).toEqual({
    exitCode: 0,
    out: 'All 1 views match their events.\n',
    error: '',
  });
  expect(await Array.fromAsync(store.read(paymentViewStream('p1')))).toHaveLength(1);
  expect(JSON.parse((await run('rebuild --json')).out)).toMatchObject({ views: 1 });
});

it('rebuild --check reports success, or names the differences and exits with 1', async () => {
  const { store, run } = await start();
  await run('rebuild');
  const well = await run('rebuild --check');
  expect(well).toEqual({ exitCode: 0, out: '1 views match their events.\n', error: '' });
  const stream = paymentViewStream('p1');
  const event = { id: systemIds.uuid(), type: 'ViewWritten', data: {}, metadata: {} };
  await store.append(stream, [event], 'any');
  const bad = await run('rebuild --check');
  expect(bad).toMatchObject({ exitCode: 1, out: `${stream}\n` });
  expect(bad.error).toMatch(/^1 read models differ from their events; run rebuild\.\n$/);
  const json = await run('rebuild --check --json');
  expect(json).toMatchObject({ exitCode: 1, out: '' });
  expect(json.error).toContain(stream);
});

it('an interrupted rebuild reports it, and can be repeated', async () => {
  const { run, stop } = await start();
  stop();
  const { exitCode, error } = await run('rebuild');
  expect([exitCode, error]).toEqual([1, expect.stringContaining('repeat it')]);
});
