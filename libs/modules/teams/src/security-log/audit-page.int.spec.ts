import type { EventStore, RecordedEvent } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { everywhere, parseGrant, reachOf } from '../operators/grants.ts';
import { readAuditPage } from './audit.ts';
import { createSecurityLog } from './security-log.ts';
import { createSecurityWatch } from './security-watch.ts';

const reach = reachOf(everywhere('viewer'), ['operators:read']);

const entriesOfOneAppend = 1_000;

async function given(count: number): Promise<EventStore> {
  const store = await temporaryStore();
  const log = createSecurityLog({ store, clock: systemClock, ids: systemIds, log: silentLog });
  const actor = { kind: 'person', name: 'ada', source: 'command-line' } as const;
  const entries = Array.from({ length: count }, (_, place) => ({
    event: { type: 'OperatorActed' as const, data: { command: `command ${place}`, detail: {} } },
    actor,
  }));
  for (let from = 0; from < count; from += entriesOfOneAppend)
    await log.record(entries.slice(from, from + entriesOfOneAppend));
  return store;
}

/** As after tampering with the store. */
const changing = (
  store: EventStore,
  change: (event: RecordedEvent) => RecordedEvent | undefined,
): Pick<EventStore, 'read'> => ({
  async *read(stream, options) {
    for await (const event of store.read(stream, options)) {
      const changed = change(event);
      if (changed !== undefined) yield changed;
    }
  },
});

describe('a page of the security log', () => {
  it('is newest first, has a cursor, and confirms that all of it is in the chain', async () => {
    const store = await given(5);
    const first = await readAuditPage(store, { reach, limit: 3 });
    expect(first.entries.map(({ revision }) => revision)).toEqual([4, 3, 2]);
    expect(first).toMatchObject({ checked: 3, next: 2 });
    const second = await readAuditPage(store, { reach, limit: 3, before: first.next });
    expect(second.entries.map(({ revision }) => revision)).toEqual([1, 0]);
    expect(second).toMatchObject({ checked: 2 });
    expect(second).not.toHaveProperty('next');
    expect(await readAuditPage(store, { reach, limit: 3, before: 0 })).toEqual({ entries: [], checked: 0 });
    expect((await readAuditPage(store, { reach, limit: 3, kind: 'team' })).entries).toEqual([]);
  });

  it('visits 2,000 entries at most, and has a cursor even if one of them was tampered with', async () => {
    const store = await given(2_003);
    const changed = changing(store, (event) => (event.revision === 1_500 ? { ...event, data: {} } : event));
    const page = await readAuditPage(changed, { reach, limit: 3, kind: 'team' });
    expect(page).toEqual({ entries: [], checked: 1_999, faultAt: 1_500, next: 3 });
    const last = await readAuditPage(changed, { reach, limit: 3, kind: 'team', before: page.next });
    expect(last).toEqual({ entries: [], checked: 3 });
  });

  // A person with a grant for the sandbox saw refused requests and resolutions of reviews in production.
  it('shows nothing of an environment out of reach', async () => {
    const store = await temporaryStore();
    const log = createSecurityLog({ store, clock: systemClock, ids: systemIds, log: silentLog });
    const watch = createSecurityWatch({ securityLog: log, clock: systemClock, log: silentLog });
    const stopping = new AbortController();
    const review = { code: 'attempt_not_found', number: 1, resolution: 'payment_not_made' };
    for (const environment of ['sandbox', 'production'] as const) {
      const who = { team: 'shop', environment, keyId: environment, address: '203.0.113.7' };
      await watch.recordResolution(who, { ...review, token: `pay_${environment}` });
      watch.noteRefusal({ ...who, code: 'scope_missing', method: 'GET', route: '/api/v1/payments' });
    }
    stopping.abort();
    await watch.run(stopping.signal);
    const shown = async (grant: string) => {
      const page = await readAuditPage(store, {
        reach: reachOf([parseGrant(grant)], ['operators:read']),
        limit: 10,
      });
      return page.entries.map(({ data }) => data['environment']);
    };
    expect(await shown('viewer:shop:sandbox')).toEqual(['sandbox', 'sandbox']);
    expect(await shown('viewer:shop')).toHaveLength(4);
  });

  it.each<[string, number, (event: RecordedEvent) => RecordedEvent | undefined]>([
    ['changed', 2, (event) => (event.revision === 2 ? { ...event, data: { command: 'another' } } : event)],
    ['removed', 3, (event) => (event.revision === 2 ? undefined : event)],
    ['removed at its beginning', 1, (event) => (event.revision === 0 ? undefined : event)],
  ])('reports the entry if one was %s', async (_, faultAt, change) => {
    const page = await readAuditPage(changing(await given(5), change), { reach, limit: 10 });
    expect(page).toMatchObject({ faultAt });
  });
});
