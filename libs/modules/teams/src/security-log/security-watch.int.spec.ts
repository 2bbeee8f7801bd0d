import { type EventStore, StoreUnavailable } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { type LogFields, silentLog, systemIds } from '@tollgate/service-kit';
import { createFakeClock, eventually } from '@tollgate/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { keyIdOfPerson } from '../operators/credentials.ts';
import type { AccessRefusal } from '../team-directory.ts';
import { readAudit } from './audit.ts';
import { createSecurityLog } from './security-log.ts';
import { createSecurityWatch } from './security-watch.ts';

async function start(wrap = (store: EventStore) => store) {
  const store = await temporaryStore();
  const clock = createFakeClock();
  const lines: LogFields[] = [];
  const log = { ...silentLog, warn: (fields: LogFields) => void lines.push(fields) };
  const securityLog = createSecurityLog({ store: wrap(store), clock, ids: systemIds, log });
  const watch = createSecurityWatch({ securityLog, clock, log });
  const stopping = new AbortController();
  const running = watch.run(stopping.signal);
  const stop = async () => {
    stopping.abort();
    await running;
  };
  onTestFinished(stop);
  const entries = () => readAudit(store, { since: 0, limit: 1_000 });
  /** Advances time until there are this many. */
  const grownTo = (count: number) =>
    eventually(async () => {
      await clock.advance(1_000);
      expect(await entries()).toHaveLength(count);
    });
  return { watch, clock, lines, entries, grownTo, stop };
}

const refusal: AccessRefusal = {
  code: 'incorrect_private_key',
  address: '203.0.113.7',
  keyId: '0a1b2c3d4e5f',
  method: 'GET',
  route: '/api/v1/payments',
  requestId: 'r-1',
};

describe('refused requests', () => {
  test('are one entry and one line at once, and one for all that follow', async () => {
    const { watch, clock, lines, entries, grownTo } = await start();
    for (let count = 0; count < 300; count += 1) watch.noteRefusal(refusal);
    await clock.advance(1_000);
    await grownTo(1);
    const { keyId: _, ...shown } = refusal;
    expect((await entries())[0]?.data).toMatchObject({ ...shown, keyIdPrefix: '0a1b2c3d', count: 1 });
    await clock.advance(60_000);
    await grownTo(2);
    expect((await entries())[1]?.data).toMatchObject({ keyIdPrefix: '0a1b2c3d', count: 299 });
    expect(lines).toMatchObject([
      { code: refusal.code, address: refusal.address, keyId: '0a1b2c3d', requestId: 'r-1', count: 1 },
      { count: 299 },
    ]);
  });

  test('from ever-changing keys and addresses do not fill the store', async () => {
    const { watch, clock, entries, grownTo } = await start();
    for (let count = 0; count < 5_000; count += 1)
      watch.noteRefusal({ ...refusal, keyId: systemIds.hex(6), address: `198.51.100.${count % 250}` });
    await clock.advance(1_000);
    await clock.advance(60_000);
    await grownTo(21);
    const counts = (await entries()).map(({ data }) => Number(data['count']));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(5_000);
    expect((await entries()).at(-1)?.data).toMatchObject({ address: 'several', count: 4_980 });
  });

  // The log truncated a person's name like the id of a key: `person:v` was vera, victor and viewer@ops, in one count.
  test('of people name each person', async () => {
    const { watch, clock, entries, grownTo } = await start();
    const byPerson = (name: string) =>
      watch.noteRefusal({ ...refusal, code: 'scope_missing', keyId: keyIdOfPerson(name) });
    byPerson('vera@ops');
    byPerson('victor@ops');
    await clock.advance(1_000);
    await grownTo(2);
    expect((await entries()).map(({ data }) => data['keyIdPrefix'])).toEqual([
      'person:vera@ops',
      'person:victor@ops',
    ]);
  });

  test('without a key are not logged', async () => {
    const { watch, clock, entries } = await start();
    watch.noteRefusal({ ...refusal, code: 'auth_header_not_found' });
    await clock.advance(1_000);
    expect(await entries()).toEqual([]);
  });

  test('wait for an unavailable store, and are written at the end', async () => {
    let isAway = true;
    const away = (store: EventStore): EventStore => ({
      ...store,
      append: (...args) =>
        isAway ? Promise.reject(new StoreUnavailable('away', 'The store is away.')) : store.append(...args),
    });
    const { watch, clock, entries, stop } = await start(away);
    watch.noteRefusal(refusal);
    await clock.advance(3_000);
    expect(await entries()).toEqual([]);
    watch.noteRefusal(refusal);
    isAway = false;
    await stop();
    expect((await entries()).map(({ data }) => data['count'])).toEqual([1, 1]);
  });
});

describe('an export', () => {
  const request = {
    ...({ team: 'shop', keyId: 'k1', environment: 'production' } as const),
    address: '203.0.113.7',
    route: '/api/v1/payments.csv',
  };

  test('is recorded before it begins; more of the same key are counted', async () => {
    const { watch, clock, entries, grownTo } = await start();
    await watch.recordExport(request);
    expect(await entries()).toMatchObject([{ type: 'ExportMade', data: { ...request, count: 1 } }]);
    await watch.recordExport(request);
    await watch.recordExport({ ...request, keyId: 'k2' });
    expect(await entries()).toHaveLength(2);
    await clock.advance(60_000);
    await grownTo(3);
    expect((await entries()).at(-1)?.data).toMatchObject({ keyId: 'k1', count: 1 });
  });

  test('does not begin if it cannot be recorded, and the next try is recorded', async () => {
    let isAway = true;
    const { watch, entries } = await start((store) => ({
      ...store,
      append: (...args) =>
        isAway ? Promise.reject(new StoreUnavailable('away', 'The store is away.')) : store.append(...args),
    }));
    await expect(watch.recordExport(request)).rejects.toThrow(StoreUnavailable);
    isAway = false;
    await watch.recordExport(request);
    expect(await entries()).toHaveLength(1);
  });
});

test('a resolution is recorded once per repeated request', async () => {
  const { watch, entries } = await start();
  const who = { team: 'shop', keyId: 'k1', address: '203.0.113.7' };
  const asked = { ...who, environment: 'production' } as const;
  const review = { token: 'pay_1', code: 'attempt_not_found', number: 1, resolution: 'payment_not_made' };
  for (let count = 0; count < 3; count += 1) await watch.recordResolution(asked, review);
  await watch.recordResolution(asked, { ...review, resolution: 'acknowledged' });
  expect(await entries()).toMatchObject([
    { type: 'ReviewResolutionAsked', actor: { kind: 'team', ...who }, data: { ...review, ...asked } },
    { data: { resolution: 'acknowledged' } },
  ]);
});
