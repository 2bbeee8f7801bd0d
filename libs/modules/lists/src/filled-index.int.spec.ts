import { openSync, closeSync, writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { MessageChannel } from 'node:worker_threads';
import { deleteLocalFile } from '@tollgate/event-store';
import { temporaryFile, temporaryStore } from '@tollgate/event-store/testing';
import { inquiryDelays } from '@tollgate/core';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { paymentKind } from '@tollgate/views';
import { happening, requested, projectEvents } from '@tollgate/views/testing';
import { expect, it, onTestFinished } from 'vitest';
import { fillIndex } from './filled-index.ts';
import { indexSchema } from './index-schema.ts';
import { createPaymentIndex } from './payment-index.ts';

/** An index between two sides whose messages can be delayed, and the errors that each side logs. */
async function given() {
  const [file, store] = [await temporaryFile(), await temporaryStore()];
  for (const token of ['pay_1', 'pay_2', 'pay_3'])
    await projectEvents(store, paymentKind, token, [requested(), happening.accepted, happening.approved]);
  const [ofReader, ofFiller] = [new MessageChannel(), new MessageChannel()];
  let isHeld = false;
  ofFiller.port2.on('message', (message) => {
    if (!isHeld) ofReader.port2.postMessage(message);
  });
  const wanted: { kind: string }[] = [];
  ofReader.port2.on('message', (message: { kind: string }) => {
    wanted.push(message);
    if (!isHeld) ofFiller.port2.postMessage(message);
  });
  const filling = { file, store, log: silentLog, clock: systemClock, ids: systemIds, delays: inquiryDelays };
  const filler = fillIndex({ ...filling, reader: ofFiller.port1 });
  const index = createPaymentIndex({ ...filling, filler: ofReader.port1 });
  await index.start();
  onTestFinished(async () => {
    await index.stop();
    await filler.stop();
    for (const { port2 } of [ofReader, ofFiller]) port2.close();
  });
  const position = async () => {
    const { byAccount } = await index.readLedger({
      environment: 'sandbox',
      wallet: 'team-shop',
      currency: 'EUR',
      commands: [],
      spent: [],
    });
    return [...byAccount.values()].map(({ available }) => available);
  };
  return { file, store, index, position, wanted, hold: (isSo: boolean) => (isHeld = isSo) };
}

/** Overwrites the first page of a table. */
function damage(file: string, table: string): void {
  const database = new DatabaseSync(file);
  database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  const { rootpage } = database.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').get(table) as {
    rootpage: number;
  };
  database.close();
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, Buffer.alloc(4_096, 0x5a), 0, 4_096, (rootpage - 1) * 4_096);
  closeSync(descriptor);
}

const isRebuilding = { code: 'index_rebuilding', retryable: true };

// The balance read as empty, so that a payout was refused, or, if negative, allowed.
it('an empty file in place of the announced one is not mistaken for it', async () => {
  const { file, position, hold } = await given();
  hold(true);
  deleteLocalFile(file);
  const empty = new DatabaseSync(file);
  empty.exec(`CREATE TABLE progress (value TEXT); ${indexSchema}`);
  onTestFinished(() => empty.close());
  await expect(position()).rejects.toMatchObject(isRebuilding);
});

it('an event that the reader has not received counts once, in the file or not', async () => {
  const { store, file, position, hold } = await given();
  hold(true);
  await projectEvents(store, paymentKind, 'pay_4', [requested(), happening.accepted, happening.approved]);
  expect(await position()).toEqual([6_000n]);
  using database = new DatabaseSync(file, { readOnly: true });
  await eventually(async () =>
    expect(database.prepare("SELECT 1 FROM payments WHERE token = 'pay_4'").all()).toHaveLength(1),
  );
  expect(await position()).toEqual([6_000n]);
});

it('damage found by concurrent reads is reported once, answered with `index_rebuilding`, and repaired', async () => {
  const { file, position, wanted } = await given();
  const before = await position();
  damage(file, 'balances');
  const failed = await Promise.allSettled([position(), position(), position()]);
  for (const each of failed) expect(each).toMatchObject({ status: 'rejected', reason: isRebuilding });
  await eventually(async () => expect(await position()).toEqual(before));
  expect(wanted.filter(({ kind }) => kind === 'damaged')).toHaveLength(1);
});

it('damage found while opening is reported', async () => {
  const { file, position, wanted } = await given();
  damage(file, 'progress');
  await eventually(async () => expect(await position()).toHaveLength(1));
  expect(wanted.filter(({ kind }) => kind === 'damaged')).toHaveLength(1);
});
