import {
  StoreUnavailable,
  beginning,
  readLast,
  type EventStore,
  type RecordedEvent,
  type Position,
} from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { appendPayment, happening } from '@tollgate/views/testing';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { createFakeClock, eventually, type Received, type Receiver } from '@tollgate/testing';
import { describe, expect, it } from 'vitest';
import { createWebhookJournal } from './webhook-journal.ts';
import type { NotifierDependencies } from './notifier.ts';
import { receiverCertificate, receiverKey } from './testing/certificate.ts';
import { startReceiver } from './testing/receiver.ts';
import { webhooksOf, pay, start, statesOf, sentTo, verifierOf, verify } from './testing/running.ts';

const { pending, approved, refunding, refundApproved } = happening;

const idsOf = ({ received }: Receiver) => received.map(({ headers }) => headers['webhook-id']);

async function given() {
  return { store: await temporaryStore(), receiver: await startReceiver() };
}

describe('a team', () => {
  it('gets every change of status in order, signed so that the public library verifies it', async () => {
    const { store, receiver } = await given();
    start(store);
    await pay(store, receiver, { events: [pending, approved] });
    await appendPayment(store, 'pay_1', [refunding, refundApproved]);
    await eventually(() => expect(receiver.received).toHaveLength(3));
    expect(sentTo(receiver)).toEqual(['payment pending', 'payment approved', 'refund approved']);
    for (const each of receiver.received) {
      expect(verify(each, verifierOf('shop'))).toEqual(each.body);
      expect(() => verify(each, verifierOf('games'))).toThrow('No matching signature');
      expect(each).toMatchObject({ method: 'POST', path: '/hook' });
      expect(each.headers['content-type']).toBe('application/json');
      const { sequence, occurredAt } = each.body as unknown as { sequence: number; occurredAt: string };
      expect(each.headers).toMatchObject({
        'tollgate-sequence': String(sequence),
        'tollgate-event-time': occurredAt,
      });
    }
    await eventually(async () =>
      expect(await statesOf(store)).toEqual(['delivered', 'delivered', 'delivered']),
    );
  });

  it('gets the signatures of both secrets during a rotation', async () => {
    const { store, receiver } = await given();
    const versionsOf = (team: string, environment: string) =>
      team === 'shop' && environment === 'sandbox' ? ['1', ''] : [''];
    start(store, { secretVersionsOf: versionsOf });
    await pay(store, receiver);
    await eventually(() => expect(receiver.received).toHaveLength(1));
    const [sent] = receiver.received;
    for (const version of ['1', '']) expect(verify(sent!, verifierOf('shop', version))).toEqual(sent!.body);
    expect(() => verify(sent!, verifierOf('shop', '2'))).toThrow('No matching signature');
  });
});

describe('a webhook that is refused', () => {
  it('is sent again under its id, at a new time, and delays the next one of its payment only', async () => {
    const { store, receiver } = await given();
    const clock = createFakeClock();
    receiver.react((_, index) => (index === 0 ? 500 : 200));
    start(store, { clock });
    await pay(store, receiver, { events: [pending, approved] });
    await eventually(() => expect(receiver.received).toHaveLength(1));
    await pay(store, receiver, { token: 'pay_2' });
    await eventually(async () => expect(await statesOf(store, 'pay_2')).toEqual(['delivered']));
    expect(sentTo(receiver)).toEqual(['payment pending', 'payment pending']);
    await clock.advance(5_000);
    await eventually(async () => expect(await statesOf(store)).toEqual(['delivered', 'delivered']));
    expect(sentTo(receiver).slice(2)).toEqual(['payment pending', 'payment approved']);
    const [first, , again] = receiver.received.map(({ headers }) => headers);
    expect(again?.['webhook-id']).toBe(first?.['webhook-id']);
    expect(Number(again?.['webhook-timestamp'])).toBe(Number(first?.['webhook-timestamp']) + 5);
  });
});

describe('an answer', () => {
  it.each([
    { name: 'that leads elsewhere is a failure, and is not followed', status: 302, statusCode: 302 },
    { name: 'without a status is a failure', status: 'garbage', reason: 'answer_unreadable' },
    { name: 'that is cut short is a failure', status: 'reset', reason: 'connection_failed' },
  ])('$name', async ({ status, statusCode, reason }) => {
    const { store, receiver } = await given();
    const elsewhere = await startReceiver();
    receiver.react(() => (response) => {
      if (typeof status === 'number') response.writeHead(status, { location: elsewhere.url }).end();
      else if (status === 'garbage') response.socket?.end('SMTP ready\r\n\r\n');
      else response.socket?.destroy();
    });
    start(store, { clock: createFakeClock() });
    await pay(store, receiver);
    await eventually(async () => {
      const [webhook] = await webhooksOf(store);
      expect(webhook?.deliveries).toMatchObject([
        { isDelivered: false, ...(statusCode === undefined ? { reason } : { statusCode }) },
      ]);
    });
    expect(elsewhere.received).toEqual([]);
  });

  it('is recorded with its first 1,000 characters, and no card number', async () => {
    const { store, receiver } = await given();
    receiver.react(() => (response) => response.writeHead(422).end(`4392963203551251 ${'é'.repeat(3_000)}`));
    start(store, { clock: createFakeClock() });
    await pay(store, receiver);
    await eventually(async () => {
      const [delivery] = (await webhooksOf(store))[0]?.deliveries ?? [];
      expect(delivery).toMatchObject({ statusCode: 422 });
      expect(delivery?.responseBody).toMatch(/^4\S+1251 é+$/);
      expect(delivery?.responseBody).not.toContain('4392963203551251');
      expect(delivery?.responseBody).toHaveLength(1_000);
    });
  });

  it('that does not arrive within ten seconds is a failure', async () => {
    const { store, receiver } = await given();
    const clock = createFakeClock();
    receiver.react(() => 'hang');
    start(store, { clock });
    await pay(store, receiver);
    await eventually(() => expect(receiver.received).toHaveLength(1));
    await clock.advance(9_999);
    expect((await webhooksOf(store))[0]?.deliveries).toEqual([]);
    await clock.advance(1);
    await eventually(async () => {
      expect((await webhooksOf(store))[0]?.deliveries).toMatchObject([{ reason: 'timeout' }]);
    });
    await eventually(() => expect(receiver.waiting().now).toBe(0));
  });

  it('without an end counts as delivered, and is not read further', async () => {
    const { store, receiver } = await given();
    receiver.react(() => (response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
      };
      response.on('drain', more);
      more();
    });
    start(store, { clock: createFakeClock() });
    await pay(store, receiver);
    await eventually(async () => expect(await statesOf(store)).toEqual(['delivered']));
    await eventually(() => expect(receiver.waiting().now).toBe(0));
  });
});

describe('an address', () => {
  it('that the team does not allow is not called until the team allows it', async () => {
    const { store, receiver } = await given();
    const clock = createFakeClock();
    let isAllowed = false;
    start(store, {
      clock,
      isCallbackAllowed: (team, url) => isAllowed && team === 'shop' && url === receiver.url,
    });
    await pay(store, receiver);
    await eventually(async () => {
      expect((await webhooksOf(store))[0]?.deliveries).toMatchObject([{ reason: 'origin_not_allowed' }]);
    });
    isAllowed = true;
    await clock.advance(5_000);
    await eventually(async () => expect(await statesOf(store)).toEqual(['delivered']));
    expect(receiver.received).toHaveLength(1);
  });

  it.each([
    ['plain http', 'http://shop.example/hook', 'origin_not_allowed'],
    ['another scheme', 'ftp://127.0.0.1/hook', 'origin_not_allowed'],
    ['no address', 'nonsense', 'origin_not_allowed'],
    ['a private address', 'https://10.0.0.1/hook', 'address_not_allowed'],
    ['a private address in disguise', 'https://0xa9fea9fe/hook', 'address_not_allowed'],
    ['a name that leads to this machine', 'https://rebound.example/hook', 'address_not_allowed'],
    ['a name that leads nowhere', 'https://nowhere.example/hook', 'name_not_found'],
  ])('%s is never called', async (_name, url, reason) => {
    const { store, receiver } = await given();
    const { port } = new URL(receiver.url);
    const resolve: NotifierDependencies['resolve'] = async (name) => {
      if (name === 'nowhere.example') throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
      return [{ address: '127.0.0.1', family: 4 }];
    };
    start(store, { clock: createFakeClock(), resolve });
    await pay(store, { url: url.replace('.example/', `.example:${port}/`) });
    await eventually(async () => {
      expect((await webhooksOf(store))[0]?.deliveries).toMatchObject([{ reason }]);
    });
    expect(receiver.waiting().most).toBe(0);
  });
});

describe('an https receiver', () => {
  it.each([
    {
      name: 'gets webhooks if its certificate is trusted',
      trustedCa: receiverCertificate,
      expected: { statusCode: 200 },
    },
    {
      name: 'gets none if it is not',
      trustedCa: undefined,
      expected: { reason: 'certificate_refused' },
    },
  ])('$name', async ({ trustedCa, expected }) => {
    const store = await temporaryStore();
    const receiver = await startReceiver({ key: receiverKey, cert: receiverCertificate });
    start(store, { clock: createFakeClock(), ...(trustedCa === undefined ? {} : { trustedCa }) });
    await pay(store, receiver);
    await eventually(async () => {
      expect((await webhooksOf(store))[0]?.deliveries).toMatchObject([expected]);
    });
    expect(receiver.received).toHaveLength(trustedCa === undefined ? 0 : 1);
  });
});

describe('a receiver that does not answer', () => {
  it('delays no other team, and uses no more than its share', async () => {
    const { store, receiver: slow } = await given();
    const fast = await startReceiver();
    slow.react(() => 'hang');
    start(store, { clock: createFakeClock() });
    for (let each = 0; each < 40; each += 1)
      await pay(store, slow, { token: `pay_slow${each}`, team: 'slow' });
    await eventually(() => expect(slow.waiting().now).toBe(4));
    for (let each = 0; each < 40; each += 1)
      await pay(store, fast, { token: `pay_fast${each}`, team: 'fast' });
    // No time passes, so no attempt at the slow one can have ended.
    await eventually(() => expect(fast.received).toHaveLength(40));
    expect(slow.waiting()).toEqual({ now: 4, most: 4 });
    expect(fast.waiting().most).toBeLessThanOrEqual(4);
  });
});

describe('after a stop', () => {
  it('between record and delivery, another instance delivers under the same id', async () => {
    const { store, receiver } = await given();
    receiver.react(() => 'hang');
    const first = start(store, { clock: createFakeClock() });
    await pay(store, receiver);
    await eventually(() => expect(receiver.received).toHaveLength(1));
    await first.stop();
    expect(await statesOf(store)).toEqual(['open']);
    receiver.react(() => 200);
    start(store);
    await eventually(async () => expect(await statesOf(store)).toEqual(['delivered']));
    expect(new Set(idsOf(receiver)).size).toBe(1);
  });

  it('before the checkpoint was written, repeated events are recorded and delivered once', async () => {
    const { store, receiver } = await given();
    const first = start(store);
    await pay(store, receiver, { events: [pending, approved] });
    await eventually(async () => expect(await statesOf(store)).toEqual(['delivered', 'delivered']));
    await first.stop();
    const data = { position: beginning, failedStreams: [] };
    const event = { id: systemIds.uuid(), type: 'CheckpointMoved', data, metadata: {} };
    await store.append('checkpoint-notifier', [event], 'any');
    start(store);
    await pay(store, receiver, { token: 'pay_later' });
    await eventually(async () => expect(await statesOf(store, 'pay_later')).toEqual(['delivered']));
    expect(await statesOf(store)).toEqual(['delivered', 'delivered']);
    expect(receiver.received).toHaveLength(3);
  });

  it('a retry is made when due, by another instance that reads only the open subjects', async () => {
    const { store, receiver } = await given();
    const clock = createFakeClock();
    const first = start(store, { clock });
    for (let each = 0; each < 20; each += 1) await pay(store, receiver, { token: `pay_done${each}` });
    await eventually(async () => {
      for (let each = 0; each < 20; each += 1)
        expect(await statesOf(store, `pay_done${each}`)).toEqual(['delivered']);
    });
    receiver.react(() => 503);
    await pay(store, receiver);
    await eventually(async () => expect((await webhooksOf(store))[0]?.deliveries).toHaveLength(1));
    // Checkpoints are a second apart; this event of another payment writes the next one.
    await clock.advance(1_500);
    receiver.react(() => 200);
    await pay(store, receiver, { token: 'pay_later' });
    await eventually(async () => {
      expect(await statesOf(store, 'pay_later')).toEqual(['delivered']);
      expect(await readLast(store, 'checkpoint-notifier')).toBeDefined();
    });
    await first.stop();
    const streams: string[] = [];
    const watched: EventStore = {
      ...store,
      read: (stream, options) => {
        streams.push(stream);
        return store.read(stream, options);
      },
    };
    start(watched, { clock });
    await clock.advance(3_500);
    await eventually(async () => expect(await statesOf(store)).toEqual(['delivered']));
    expect(streams.filter((stream) => stream.startsWith('webhook-pay_done'))).toEqual([]);
  });
});

describe('two instances side by side', () => {
  it('lose nothing, and repeat only under the same id', async () => {
    const { store, receiver } = await given();
    const another = await startReceiver();
    start(store);
    start(store);
    const events = [pending, approved];
    for (let each = 0; each < 20; each += 1)
      await pay(store, each % 2 === 0 ? receiver : another, { token: `pay_${each}`, events });
    await eventually(async () => {
      for (let each = 0; each < 20; each += 1)
        expect(await statesOf(store, `pay_${each}`)).toEqual(['delivered', 'delivered']);
    });
    const known = new Map<string, string>();
    for (const { headers, text } of [...receiver.received, ...another.received]) {
      const id = String(headers['webhook-id']);
      expect(known.get(id) ?? text).toBe(text);
      known.set(id, text);
    }
    expect(known.size).toBe(40);
  });
});

describe('a replay', () => {
  it('is delivered again, with the same id and body and a new time', async () => {
    const { store, receiver } = await given();
    const clock = createFakeClock();
    start(store, { clock });
    await pay(store, receiver);
    await eventually(async () => expect(await statesOf(store)).toEqual(['delivered']));
    await clock.advance(60_000);
    const journal = createWebhookJournal({ store, clock, ids: systemIds });
    await journal.requestReplay('pay_1', undefined, { kind: 'service', name: 'test' });
    await eventually(() => expect(receiver.received).toHaveLength(2));
    await eventually(async () => expect(await statesOf(store)).toEqual(['delivered']));
    const [first, second] = receiver.received as [Received, Received];
    expect([second.text, second.headers['webhook-id']]).toEqual([first.text, first.headers['webhook-id']]);
    const times = [first, second].map(({ headers }) => Number(headers['webhook-timestamp']));
    expect(times[1]).toBe(times[0]! + 60);
  });
});

describe('our failure', () => {
  it('of the store loses nothing', async () => {
    const { store, receiver } = await given();
    let failures = 0;
    const shaky: EventStore = {
      ...store,
      append: async (...append) => {
        failures += 1;
        if (failures % 3 === 1) throw new StoreUnavailable('store_busy', 'busy');
        const answer = await store.append(...append);
        if (failures % 3 === 2) throw new StoreUnavailable('store_busy', 'written, and the answer lost');
        return answer;
      },
    };
    const clock = createFakeClock();
    start(shaky, { clock });
    await pay(store, receiver, { events: [pending, approved] });
    await eventually(async () => {
      await clock.advance(1_000);
      expect(await statesOf(store)).toEqual(['delivered', 'delivered']);
    });
    expect(new Set(idsOf(receiver)).size).toBe(2);
  });

  // Each of five thousand waiting webhooks was tried once a second, with a log line each.
  it('of the store is logged once, and retried less and less often', async () => {
    const { store, receiver } = await given();
    let isAway = false;
    const reads: string[] = [];
    /** Subscriptions to webhooks: the sender's, and the list's. */
    const taken: Position[] = [];
    const takenIn = () => taken.toSorted()[0] ?? beginning;
    let appending = 0;
    const away: EventStore = {
      ...store,
      append: (...appended) => {
        appending += 1;
        return store.append(...appended).finally(() => (appending -= 1));
      },
      async *subscribe(options) {
        const isOfWebhooks = options.prefixes.join() === 'webhook-';
        const place = isOfWebhooks ? taken.push(beginning) - 1 : undefined;
        for await (const item of store.subscribe(options)) {
          yield item;
          if (place !== undefined) taken[place] = item.position;
        }
      },
      read: (stream, options) => {
        if (!isAway || !stream.startsWith('webhook-')) return store.read(stream, options);
        reads.push(stream);
        throw new StoreUnavailable('store_busy', 'away');
      },
    };
    const clock = createFakeClock();
    const errors: unknown[] = [];
    const log = { ...silentLog, error: (fields: unknown) => void errors.push(fields) };
    receiver.react(() => 500);
    start(away, { clock, log });
    const tokens = Array.from({ length: 20 }, (_, index) => `pay_${index}`);
    for (const token of tokens) await pay(store, receiver, { token });
    const failuresInRow = async (token: string) => (await webhooksOf(store, token))[0]?.failuresInRow;
    await eventually(async () => {
      for (const token of tokens) expect(await failuresInRow(token)).toBe(1);
    });
    const head = await store.head();
    // The store becomes unavailable after the first attempts are recorded.
    await eventually(() =>
      expect({ takenIn: takenIn(), appending }).toEqual({ takenIn: head, appending: 0 }),
    );
    isAway = true;
    for (let second = 0; second < 120; second += 1) await clock.advance(1_000);
    // Of each at 5, 6, 8, 12, 20, 36, 66 and 96 seconds.
    await eventually(() => expect(reads).toHaveLength(8 * tokens.length));
    expect(errors).toHaveLength(1);
    isAway = false;
    receiver.react(() => 200);
    // To the next turn, and not beyond the time limit of an attempt.
    await clock.advance(6_000);
    await eventually(async () => {
      for (const token of tokens) expect(await statesOf(store, token)).toEqual(['delivered']);
    });
    expect(errors).toHaveLength(1);
  });

  it('that damaged one payment, or its webhooks, leaves all others alone', async () => {
    const { store, receiver } = await given();
    const nonsense = (type = 'Nonsense') => ({ id: systemIds.uuid(), type, data: {}, metadata: {} });
    await pay(store, receiver, { token: 'pay_broken' });
    await store.append('payment-pay_broken', [nonsense()], 'any');
    await store.append('webhook-pay_odd', [nonsense('WebhookDue')], 'any');
    await pay(store, receiver, { token: 'pay_odd' });
    start(store);
    await pay(store, receiver, { token: 'pay_1' });
    await eventually(async () => expect(await statesOf(store, 'pay_1')).toEqual(['delivered']));
  });

  it('that a later version can read is delivered after its start', async () => {
    const { store, receiver } = await given();
    const asOld = (event: RecordedEvent): RecordedEvent =>
      event.stream === 'payment-pay_new' && event.type === pending.type
        ? { ...event, type: 'Nonsense' }
        : event;
    const old: EventStore = {
      ...store,
      async *read(...read) {
        for await (const event of store.read(...read)) yield asOld(event);
      },
      async *subscribe(options) {
        for await (const item of store.subscribe(options)) yield item.kind === 'event' ? asOld(item) : item;
      },
    };
    await pay(store, receiver, { token: 'pay_new', events: [pending, approved] });
    let now = 0;
    const { stop } = start(old, { clock: { ...systemClock, monotonic: () => (now += 1_000) } });
    await pay(store, receiver, { token: 'pay_1' });
    await eventually(async () => {
      expect(await statesOf(store, 'pay_1')).toEqual(['delivered']);
      const checkpoint = await readLast(store, 'checkpoint-notifier');
      expect(checkpoint?.data).toMatchObject({
        failedStreams: [{ stream: 'payment-pay_new', revision: 2 }],
      });
    });
    await stop();
    expect(await webhooksOf(store, 'pay_new')).toEqual([]);
    start(store);
    await eventually(async () =>
      expect(await statesOf(store, 'pay_new')).toEqual(['delivered', 'delivered']),
    );
    expect(idsOf(receiver)).toHaveLength(3);
  });
});
