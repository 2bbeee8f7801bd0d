import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { requestIdFrom, silentLog, dayMs } from '@tollgate/service-kit';
import { createFakeClock, zeroPageWith } from '@tollgate/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type RequestLedger, openRequestLedger } from './request-ledger.ts';
import type { RequestRecord } from './request-record.ts';

const shop = { environment: 'sandbox', team: 'shop' };
const games = { environment: 'sandbox', team: 'games' };

function start({ perTeamMax = 100, file = ':memory:' } = {}) {
  const clock = createFakeClock();
  const ledger = openRequestLedger({ file, keptMs: 30 * dayMs, perTeamMax, clock, log: silentLog });
  let chance = 0;
  function note(more: Partial<RequestRecord> = {}, owner = shop): string {
    const id = `${requestIdFrom(clock.now())}${(chance += 1).toString(16).padStart(20, '0')}`;
    const caller = { ...owner, keyId: 'k1' };
    ledger.note({
      id,
      method: 'GET',
      route: '/x',
      status: 200,
      durationMs: 1.5,
      providerMs: 0,
      caller,
      ...more,
    });
    return id;
  }
  return { clock, ledger, note };
}

const idsOf = (ledger: RequestLedger, filter = {}, owner = shop) =>
  ledger.list(owner, { perPage: 500, ...filter }).records.map(({ id }) => id);

function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-requests-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'requests.db');
}

describe('a request', () => {
  it('is stored, and survives a restart', () => {
    const file = temporaryFile();
    const { ledger, note } = start({ file });
    const id = note({ errorCode: 'no_account', token: 'pay_1', providerMs: 1, clientRequestId: 'c' });
    const found = ledger.find(shop, id);
    expect(found).toMatchObject({ id, errorCode: 'no_account', token: 'pay_1', caller: { keyId: 'k1' } });
    ledger.close();
    const again = start({ file });
    expect(again.ledger.find(shop, id)).toEqual(found);
    again.ledger.close();
  });

  it('waits to be written with others, or is written by itself', async () => {
    const file = temporaryFile();
    const { ledger, note, clock } = start({ file });
    note();
    const written = () => {
      const database = new DatabaseSync(file, { readOnly: true });
      const { count } = database.prepare('SELECT count(*) AS count FROM requests').get() ?? {};
      database.close();
      return count;
    };
    expect(written()).toBe(0);
    await clock.advance(200);
    expect(written()).toBe(1);
    ledger.close();
  });

  it('expires after its days, or if its team has too many; another team keeps its own', async () => {
    const { ledger, note, clock } = start({ perTeamMax: 100 });
    const others = note({}, games);
    const first = note();
    await clock.advance(29 * dayMs);
    expect(ledger.find(shop, first)).toBeDefined();
    await clock.advance(2 * dayMs);
    note();
    ledger.find(shop, first);
    expect([ledger.find(shop, first), ledger.find(games, others)]).toEqual([undefined, undefined]);
    const own = note({}, games);
    for (let count = 0; count < 1_000; count += 1) note();
    expect(idsOf(ledger)).toHaveLength(100);
    expect(ledger.find(games, own)).toBeDefined();
  });

  it('without a known caller belongs to no team', () => {
    const { ledger, note } = start();
    const { caller: _, ...unknown } = { caller: undefined };
    const id = note();
    ledger.note({ ...ledger.find(shop, id)!, ...unknown, caller: undefined } as unknown as RequestRecord);
    expect(ledger.find({ environment: '', team: '' }, id)).toBeDefined();
  });
});

describe('a page', () => {
  it('begins after the previous one, and ends', () => {
    const { ledger, note } = start();
    const ids = Array.from({ length: 5 }, () => note()).toReversed();
    const first = ledger.list(shop, { perPage: 3 });
    expect(first.records.map(({ id }) => id)).toEqual(ids.slice(0, 3));
    const second = ledger.list(shop, { perPage: 3, before: first.next });
    expect([second.records.map(({ id }) => id), second.next]).toEqual([ids.slice(3), undefined]);
  });

  it('visits a bounded number of rows, and has a cursor', () => {
    const { ledger, note } = start({ perTeamMax: 100_000 });
    const rare = note({ status: 409 });
    for (let count = 0; count < 1_999; count += 1) note();
    ledger.find(shop, rare);
    for (let count = 0; count < 10; count += 1) note();
    const first = ledger.list(shop, { perPage: 10, status: '4xx' });
    expect(first.records).toEqual([]);
    expect(idsOf(ledger, { status: '409', before: first.next })).toEqual([rare]);
  });
});

describe('a file', () => {
  // One page of `requests.db` was lost in a power failure, and the gateway no longer started: no payment was accepted for want
  // of a
  // list that people read.
  it('with a page lost in a power failure is recreated', () => {
    const file = temporaryFile();
    const { ledger, note } = start({ file, perTeamMax: 10_000 });
    const ids = Array.from({ length: 500 }, () => note());
    ledger.close();
    zeroPageWith(file, ids.at(-1) ?? '');
    const again = start({ file });
    expect(again.ledger.find(shop, again.note())).toBeDefined();
    again.ledger.close();
  });

  it('found damaged while open is recreated', () => {
    const file = temporaryFile();
    const { ledger, note } = start({ file, perTeamMax: 10_000 });
    const ids = Array.from({ length: 500 }, () => note());
    ledger.find(shop, '');
    const other = new DatabaseSync(file);
    other.exec('PRAGMA wal_checkpoint(TRUNCATE); VACUUM; PRAGMA wal_checkpoint(TRUNCATE)');
    other.close();
    zeroPageWith(file, ids.at(-1) ?? '');
    expect(ledger.find(shop, ids.at(-1) ?? '')).toBeUndefined();
    expect(ledger.find(shop, note())).toBeDefined();
    ledger.close();
  });

  it('that cannot be opened does not prevent a start, and is used when it can be', () => {
    const file = temporaryFile();
    mkdirSync(file);
    const { ledger, note } = start({ file });
    note();
    expect(() => ledger.find(shop, 'x')).toThrow('cannot be opened');
    rmSync(file, { recursive: true });
    expect(ledger.find(shop, note())).toBeDefined();
    ledger.close();
  });

  // After a full disk the unwritten requests were counted, and as many written ones were deleted.
  it('that could not be written for a time keeps its requests', () => {
    const file = temporaryFile();
    const { ledger, note } = start({ file, perTeamMax: 100 });
    for (let count = 0; count < 60; count += 1) note();
    ledger.find(shop, '');
    const other = new DatabaseSync(file);
    other.exec(
      `CREATE TRIGGER full_disk AFTER INSERT ON requests WHEN (SELECT count(*) FROM requests) = 120
       BEGIN SELECT RAISE(ROLLBACK, 'database or disk is full'); END`,
    );
    for (let count = 0; count < 60; count += 1) note();
    ledger.find(shop, '');
    other.exec('DROP TRIGGER full_disk');
    other.close();
    note();
    expect(idsOf(ledger)).toHaveLength(61);
    ledger.close();
  });

  it('of another program is left alone', () => {
    const file = temporaryFile();
    const database = new DatabaseSync(file);
    database.exec('CREATE TABLE theirs (x)');
    database.close();
    const before = readFileSync(file);
    expect(() => start({ file })).toThrow('another program');
    expect(readFileSync(file)).toEqual(before);
  });
});
