import type { RecordedEvent } from '@tollgate/event-store';
import { systemClock } from '@tollgate/service-kit';
import { eventually } from '@tollgate/testing';
import { appendTeamEvents } from '@tollgate/teams/testing';
import { disputeKind, payoutKind } from '@tollgate/views';
import {
  disputeHappening,
  disputeOpened,
  happening,
  payoutRequested,
  requested,
} from '@tollgate/views/testing';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { games, given, refundsOnly, shop, start } from './testing/harness.ts';

const url = '/api/v1/events';
const { accepted, pending } = happening;

interface Page {
  events: {
    cursor: string;
    type: string;
    record: { event: { id: string; type: string; sequence: number } };
  }[];
  cursor: string;
  isAtEnd: boolean;
}

async function givenSome() {
  const services = await start();
  await given(services.store, {
    pay_1: [requested(), accepted, pending],
    theirs: [requested({ team: 'games' }), accepted],
    live: [requested({ environment: 'production' })],
    pay_2: [requested()],
  });
  await given(services.store, { po_1: [payoutRequested()] }, payoutKind);
  const page = async (query = '', getAs = services.get) => (await getAs(`${url}?${query}`)).json<Page>();
  const types = ({ events }: Page) => events.map(({ type }) => type);
  /** The file lags behind the store for a moment. */
  const wholePage = (count = 5) =>
    eventually(async () => {
      const found = await page();
      expect(found.events).toHaveLength(count);
      expect(found.isAtEnd).toBe(true);
      return found;
    });
  return { ...services, page, types, wholePage };
}

describe('the events of a team', () => {
  it('are all of its own in the order of the store, and of no other team or environment', async () => {
    const { wholePage, types, page, getAs } = await givenSome();
    const all = await wholePage();
    expect(types(all)).toEqual([
      ...['PaymentRequested', 'AttemptAccepted', 'PaymentPending', 'PaymentRequested', 'PayoutRequested'],
    ]);
    expect(all.isAtEnd).toBe(true);
    expect(all.cursor).toBe(all.events.at(-1)?.cursor);
    expect((await getAs(games)(url)).statusCode).toBe(403);
    expect((await getAs(refundsOnly)(url)).statusCode).toBe(403);
    expect((await getAs(undefined)(url)).statusCode).toBe(401);
    expect((await page(`cursor=${all.cursor}`)).events).toEqual([]);
  });

  it('continue after a cursor, page by page, each once', async () => {
    const { wholePage, page } = await givenSome();
    const all = await wholePage();
    const read = [];
    let [after, isAtEnd] = ['', false];
    while (!isAtEnd) {
      const next: Page = await page(`perPage=2&cursor=${after}`);
      read.push(...next.events);
      ({ cursor: after, isAtEnd } = next);
    }
    expect(read).toEqual(all.events);
  });

  it('include those of a dispute once its team is known', async () => {
    const { store, page } = await givenSome();
    await given(
      store,
      { d_1: [disputeOpened(), disputeHappening.matched, disputeHappening.changed] },
      disputeKind,
    );
    await eventually(async () => {
      const { events } = await page();
      expect(events.slice(5).map(({ type }) => type)).toEqual(['DisputeMatched', 'DisputeChanged']);
    });
  });

  it.each([
    ['cursor=pay_1', 'cursor'],
    ['cursor=1&cursor=2', 'cursor'],
    ['perPage=501', 'perPage'],
    ['perPage=0', 'perPage'],
    ['wait=26', 'wait'],
    ['wait=-1', 'wait'],
    ['since=1', 'since'],
  ])('are not returned for %s', async (query, parameter) => {
    const { get } = await start();
    const answer = await get(`${url}?${query}`);
    expect(answer.json()).toMatchObject({ errors: [{ code: 'invalid_param', parameter }] });
  });

  // A client that kept the cursor as a number, without its leading zeros, was answered indefinitely that nothing follows it.
  it('are not returned after a position that no event has had', async () => {
    const { wholePage, get } = await givenSome();
    const { cursor } = await wholePage();
    for (const after of [String(Number(cursor)), `9${cursor}`]) {
      const answer = await get(`${url}?cursor=${after}`);
      expect([answer.statusCode, answer.json()]).toMatchObject([
        ...[400, { errors: [{ code: 'invalid_param', parameter: 'cursor' }] }],
      ]);
    }
  });

  it('omit unreadable ones', async () => {
    const recordOf = async ({ type, stream }: RecordedEvent) => {
      if (stream === 'payment-pay_1' && type === 'AttemptAccepted') throw new Error('damaged');
      return { topic: 't', key: stream, headers: { ce_type: type }, value: new TextEncoder().encode('{}') };
    };
    const { store, get } = await start(undefined, { options: { recordOf } });
    await given(store, { pay_1: [requested(), accepted, pending] });
    await eventually(async () => {
      const { events, cursor, isAtEnd } = (await get(url)).json<Page>();
      expect(events.map(({ type }) => type)).toEqual(['PaymentRequested', 'PaymentPending']);
      expect([cursor, isAtEnd]).toEqual([events.at(-1)?.cursor, true]);
    });
  });
});

describe('a waiting reader', () => {
  it('is answered with the next event, and not with those of others', async () => {
    const { wholePage, page, store } = await givenSome();
    const { cursor } = await wholePage();
    let answered: Page | undefined;
    const waiting = page(`wait=20&cursor=${cursor}`).then((found) => (answered = found));
    await given(store, { more: [requested({ team: 'games' })] });
    expect(answered).toBeUndefined();
    await given(store, { pay_3: [requested()] });
    expect((await waiting).events.map(({ type }) => type)).toEqual(['PaymentRequested']);
  });

  it('gets nothing more if the key has been revoked meanwhile', async () => {
    const { wholePage, get, store } = await givenSome();
    const { cursor } = await wholePage();
    const waiting = get(`${url}?wait=20&cursor=${cursor}`);
    await appendTeamEvents(store, 'shop', [{ type: 'KeyRevoked', data: { keyId: 'k1' } }]);
    await eventually(async () => expect((await get(url)).statusCode).toBe(401));
    await given(store, { pay_3: [requested()] });
    const answer = await waiting;
    expect([answer.statusCode, answer.json()]).toMatchObject([
      ...[401, { errors: [{ code: 'incorrect_private_key' }] }],
    ]);
  });

  it('is answered without one when the time is over', async () => {
    const { wholePage, page } = await givenSome();
    const { cursor } = await wholePage();
    expect(await page(`wait=1&cursor=${cursor}`)).toMatchObject({ events: [], cursor, isAtEnd: true });
  });

  it('is answered at once if the service stops', async () => {
    const { wholePage, page, app } = await givenSome();
    const { cursor } = await wholePage();
    const waiting = page(`wait=25&cursor=${cursor}`);
    // It has a place once it waits.
    await systemClock.sleep(50);
    await app.close();
    expect(await waiting).toMatchObject({ events: [], cursor });
  });

  it('has a limited number of places per key, which are released afterwards', async () => {
    const { wholePage, get, page } = await givenSome();
    const { cursor } = await wholePage();
    const ten = Array.from({ length: 10 }, () => page(`wait=1&cursor=${cursor}`));
    const refused = await get(`${url}?wait=1&cursor=${cursor}`);
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([429, '5']);
    expect(refused.json()).toMatchObject({ errors: [{ code: 'too_many_waits' }] });
    // Without waiting, no place is used.
    expect((await get(`${url}?cursor=${cursor}`)).statusCode).toBe(200);
    await Promise.all(ten);
    expect((await get(`${url}?wait=1&cursor=${cursor}`)).statusCode).toBe(200);
  });
});

// With the store behind a network, a cursor is checked before the wait. Ten clients whose connections broke meanwhile kept
// their places without end: the key was answered 429 until a restart.
it('that disconnects before the wait began uses no place', async () => {
  const { app, store, get } = await start((inner) => ({
    ...inner,
    head: async () => {
      await systemClock.sleep(200);
      return inner.head();
    },
  }));
  await given(store, { pay_1: [requested()] });
  const { port } = new URL(await app.listen({ host: '127.0.0.1', port: 0 }));
  const goneSoon = async () => {
    const socket = connect({ host: '127.0.0.1', port: Number(port) });
    await new Promise((resolve) => socket.once('connect', resolve));
    const headers = `host: x\r\nauthorization: ${shop}`;
    socket.write(`GET ${url}?wait=1&cursor=0000000000000001 HTTP/1.1\r\n${headers}\r\n\r\n`);
    await systemClock.sleep(100);
    socket.destroy();
  };
  await Promise.all(Array.from({ length: 10 }, goneSoon));
  // Longer than each of them would have waited.
  await systemClock.sleep(1_500);
  expect((await get(`${url}?wait=1`)).statusCode).toBe(200);
});
