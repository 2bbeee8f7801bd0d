import { temporaryStore } from '@tollgate/event-store/testing';
import {
  encodeCallbackRecord,
  encodeDeadLetter,
  providerCallbacksDlqTopic,
  providerCallbacksTopic,
} from '@tollgate/core';
import { type BusRecord, createEmbeddedMessageBus } from '@tollgate/message-bus';
import { recordsOnTopic } from '@tollgate/message-bus/testing';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { expect, it } from 'vitest';
import { runWith, toolsWith } from './testing/run-with.ts';

const bodyOf = (token: string) => new TextEncoder().encode(JSON.stringify({ status: 'approved', of: token }));
const receivedAt = Date.UTC(2030, 0, 1);
const callbackOf = (token: string) =>
  encodeCallbackRecord({ environment: 'sandbox', token, body: bodyOf(token), receivedAt });

/** Runs command lines on a store with an embedded bus that may contain dead-lettered callbacks. */
async function start() {
  const store = await temporaryStore();
  const parts = { store, clock: systemClock, ids: systemIds, log: silentLog };
  const bus = createEmbeddedMessageBus({ ...parts, holder: 'test' });
  const deadLetter = (...tokens: string[]) =>
    bus.publish(
      providerCallbacksDlqTopic,
      tokens.map((token) => encodeDeadLetter(callbackOf(token), `no payment ${token}`)),
    );
  const run = (command: string) => runWith(toolsWith(parts), command);
  const json = async (command: string) => JSON.parse((await run(`${command} --json`)).out);
  /** The first records that a consumer of callbacks receives. */
  const callbacks = async (count: number): Promise<BusRecord[]> => {
    const records: BusRecord[] = [];
    const done = new AbortController();
    const subscription = { group: systemIds.hex(4), topics: [providerCallbacksTopic], signal: done.signal };
    await bus.subscribe(subscription, async (batch) => {
      records.push(...batch);
      if (records.length >= count) done.abort();
    });
    return records;
  };
  const published = async () => (await recordsOnTopic(store, providerCallbacksTopic)).length > 0;
  return { bus, deadLetter, run, json, callbacks, published };
}

it('lists dead-lettered callbacks with position, reason and time', async () => {
  const { deadLetter, run, json } = await start();
  await deadLetter('pay_1');
  const [listed] = await json('callbacks dead-letters');
  expect(listed).toEqual({
    offset: expect.stringMatching(/^[01]\/0$/),
    token: 'pay_1',
    environment: 'sandbox',
    reason: 'no payment pay_1',
    isReadable: true,
    receivedAt: '2030-01-01T00:00:00.000Z',
  });
  expect((await run('callbacks dead-letters')).out).toBe(
    `${listed.offset}  pay_1  sandbox  2030-01-01T00:00:00.000Z  no payment pay_1\n`,
  );
});

it('reports if nothing is dead-lettered', async () => {
  const { run } = await start();
  expect(await run('callbacks dead-letters')).toEqual({
    exitCode: 0,
    out: 'No callback is dead-lettered.\n',
    error: '',
  });
  expect(await run('callbacks replay --all')).toMatchObject({ exitCode: 0, out: 'Published again: none.\n' });
});

it('reads more than one batch of each partition', async () => {
  const { deadLetter, json } = await start();
  await deadLetter(...Array.from({ length: 450 }, (_, number) => `pay_${number}`));
  expect(await json('callbacks dead-letters')).toHaveLength(450);
});

it('republishes all unchanged, once', async () => {
  const { deadLetter, json, callbacks } = await start();
  await deadLetter('pay_1', 'pay_2', 'pay_3');
  expect(await json('callbacks replay --all')).toHaveLength(3);
  expect(await json('callbacks replay --all')).toEqual([]);
  expect(await json('callbacks dead-letters')).toEqual([]);
  await deadLetter('pay_4');
  expect(await json('callbacks replay --all')).toHaveLength(1);
  const records = await callbacks(4);
  expect(records.map(({ key }) => key).sort()).toEqual(['pay_1', 'pay_2', 'pay_3', 'pay_4']);
  for (const { key, value, headers } of records) expect({ key, value, headers }).toEqual(callbackOf(key));
});

it('republishes one by its position, also a second time', async () => {
  const { deadLetter, run, json, callbacks } = await start();
  await deadLetter('pay_1', 'pay_2', 'pay_3');
  const listed: { offset: string; token: string }[] = await json('callbacks dead-letters');
  const { offset } = listed.find(({ token }) => token === 'pay_2')!;
  for (let times = 0; times < 2; times += 1)
    expect((await run(`callbacks replay --offset ${offset}`)).out).toBe(`Published again: ${offset}.\n`);
  expect((await callbacks(2)).map(({ key }) => key)).toEqual(['pay_2', 'pay_2']);
  const left: { token: string }[] = await json('callbacks dead-letters');
  expect(left.map(({ token }) => token).sort()).toEqual(['pay_1', 'pay_3']);
});

it('refuses a position without a dead-lettered callback, or of a marker', async () => {
  const { deadLetter, run, json, published } = await start();
  await deadLetter('pay_1');
  const answer = { exitCode: 1, out: '', error: 'No dead-lettered callback is at 1/99.\n' };
  expect(await run('callbacks replay --offset 1/99')).toEqual(answer);
  expect(await published()).toBe(false);
  const [{ offset }] = await json('callbacks dead-letters');
  await run('callbacks replay --all');
  const mark = offset.replace('/0', '/1');
  expect(await run(`callbacks replay --offset ${mark}`)).toMatchObject({ exitCode: 1 });
});

it('lists records that are not callbacks safely for terminals, and excludes them from replay', async () => {
  const { bus, run, json, published } = await start();
  const value = new TextEncoder().encode('x');
  const headers = { reason: '\u001b[2J no', 'received-at': 'never' };
  await bus.publish(providerCallbacksDlqTopic, [{ key: 'pay_1', value, headers }]);
  expect((await run('callbacks dead-letters')).out).toMatch(/^[01]\/0 {2}pay_1 {2}\? {2}\? {2}\?\[2J no\n$/);
  expect((await run('callbacks replay --all')).out).toBe(
    'Published again: none. 1 omitted, because they are not callbacks.\n',
  );
  expect(await published()).toBe(false);
  expect(await json('callbacks dead-letters')).toHaveLength(1);
});
