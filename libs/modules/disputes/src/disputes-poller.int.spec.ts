import type { EventStore } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { type InquiryOutcome } from '@tollgate/core';
import { TollgateError } from '@tollgate/service-kit';
import { createFakeClock, createFakeIds } from '@tollgate/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { type DisputeEvent, decodeDisputeEvent, disputeStream } from '@tollgate/books';
import { createDisputes, deriveDisputeToken } from './disputes.ts';
import {
  type FakeAccount,
  createFakeAccount,
  dispute,
  startPoller as startPollerOver,
} from './testing/poller-harness.ts';

const second = 1_000;
const minute = 60 * second;

let store: EventStore;
beforeEach(async () => {
  store = await temporaryStore();
});

const main = () => createFakeAccount('main');

const startPoller = (accounts: FakeAccount[], more: { pollEveryMs?: number; store?: EventStore } = {}) =>
  startPollerOver(more.store ?? store, accounts, more);

/** One account with these disputes, after the first reading; `next` waits a minute by default, and for the next reading. */
async function startOne(disputes: FakeAccount['disputes'] = []) {
  const account = main();
  account.disputes = disputes;
  const poller = startPoller([account]);
  let readings = 1;
  await poller.hasRead(account, readings);
  const next = (durationMs = minute) => poller.pass(durationMs, account, (readings += 1));
  return { ...poller, account, next };
}

async function history(account: FakeAccount, id: string): Promise<DisputeEvent[]> {
  const stream = disputeStream(deriveDisputeToken(account.environment, account.name, id));
  const events: DisputeEvent[] = [];
  for await (const event of store.read(stream)) events.push(decodeDisputeEvent(event));
  return events;
}
const types = async (account: FakeAccount, id: string) =>
  (await history(account, id)).map(({ type }) => type);

describe('the disputes of an account', () => {
  it('are recorded with their account and payment', async () => {
    const account = main();
    account.disputes = [dispute('17', { reasonCode: '4853' })];
    const { payments, hasRead, logged } = startPoller([account]);
    payments.set('sandbox/main/service-17', { token: 'pay_1', team: 'shop' });
    await hasRead(account, 1);
    const listed = {
      id: '17',
      amount: 1000,
      currency: 'EUR',
      status: 'pending',
      state: 'open',
      reasonCode: '4853',
    };
    const found = { environment: 'sandbox', account: 'main', team: 'shop', paymentToken: 'pay_1' };
    expect(await history(account, '17')).toEqual([{ type: 'DisputeOpened', data: { ...listed, ...found } }]);
    expect(logged).toEqual([]);
  });

  it('without news append nothing, and news is appended with the next reading', async () => {
    const { account, next } = await startOne([
      dispute('a', { serviceToken: undefined, openedAt: Number.NaN }),
    ]);
    await next();
    expect(await types(account, 'a')).toEqual(['DisputeOpened']);
    account.disputes = [dispute('b'), dispute('a', { status: 'approved' })];
    await next();
    expect(await types(account, 'a')).toEqual(['DisputeOpened', 'DisputeChanged']);
    expect(await types(account, 'b')).toEqual(['DisputeOpened']);
  });

  it.each([
    ['without token', undefined],
    ['with an unknown one', 'service-x'],
  ])('are recorded %s, logged once, and not matched', async (_, serviceToken) => {
    const account = main();
    account.disputes = [dispute('a', { serviceToken })];
    const { pass, hasRead, warnings, payments } = startPoller([account]);
    payments.set('sandbox/main/', { token: 'pay_1', team: 'shop' });
    await hasRead(account, 1);
    await pass(minute, account, 2);
    expect(await history(account, 'a')).toMatchObject([{ type: 'DisputeOpened' }]);
    expect((await history(account, 'a'))[0]?.data).not.toHaveProperty('team');
    expect(warnings('no payment that is known')).toMatchObject([
      { level: 'warn', fields: { token: deriveDisputeToken('sandbox', 'main', 'a'), account: 'main' } },
    ]);
  });

  it('are matched later, when the views know the payment or the provider names it', async () => {
    const { account, next, payments, onPayments } = await startOne([
      dispute('a'),
      dispute('b', { serviceToken: undefined }),
    ]);
    expect(onPayments).toEqual([]);
    payments.set('sandbox/main/service-a', { token: 'pay_1', team: 'shop' });
    payments.set('sandbox/main/service-b', { token: 'pay_2', team: 'shop' });
    account.disputes = [dispute('a'), dispute('b')];
    await next();
    const matched = (paymentToken: string) => ({
      type: 'DisputeMatched',
      data: { team: 'shop', paymentToken },
    });
    expect((await history(account, 'a'))[1]).toEqual(matched('pay_1'));
    expect((await history(account, 'b'))[1]).toEqual(matched('pay_2'));
    expect(onPayments).toMatchObject([
      { paymentToken: 'pay_1', revision: 1, state: 'open' },
      { paymentToken: 'pay_2', revision: 1, state: 'open' },
    ]);
  });

  it('are recorded on their payments when they change, and after a restart', async () => {
    const account = main();
    account.disputes = [dispute('a', { reasonCode: '4853' }), dispute('unmatched')];
    const first = startPoller([account]);
    const known = (all: typeof first) =>
      all.payments.set('sandbox/main/service-a', { token: 'pay_1', team: 'shop' });
    known(first);
    await first.hasRead(account, 1);
    await first.pass(minute, account, 2);
    const opened = {
      type: 'RecordDispute',
      paymentToken: 'pay_1',
      disputeToken: deriveDisputeToken('sandbox', 'main', 'a'),
      revision: 0,
      state: 'open',
      amount: 1000,
      currency: 'EUR',
      status: 'pending',
      reasonCode: '4853',
    };
    expect(first.onPayments).toEqual([opened]);
    account.disputes = [dispute('a', { status: 'approved', state: 'lost' })];
    await first.pass(minute, account, 3);
    const lost = { ...opened, revision: 1, status: 'approved', state: 'lost' };
    expect(first.onPayments).toEqual([opened, lost]);
    await first.stop();
    const again = startPoller([account]);
    known(again);
    await again.hasRead(account, 5);
    expect(again.onPayments).toEqual([lost]);
  });

  it('that are listed twice are taken from their first entry, which is newer', async () => {
    const { account, next } = await startOne([dispute('a', { status: 'approved' }), dispute('a')]);
    await next();
    expect(await history(account, 'a')).toMatchObject([{ data: { status: 'approved' } }]);
  });

  // A process was suspended after it had read a list: events of another process were reverted (simulation, seed 14320).
  it('stay as another process has recorded them since their list was requested', async () => {
    const account = main();
    account.disputes = [dispute('a')];
    const { pass, hasRead } = startPoller([account]);
    await hasRead(account, 1);
    const other = createDisputes({ store, clock: createFakeClock(), ids: createFakeIds(9) });
    account.beforeAnswer = async () => {
      account.beforeAnswer = async () => {};
      account.disputes = [dispute('a', { status: 'approved' })];
      const { observed } = dispute('a', { status: 'approved' });
      const { environment, name } = account;
      const token = deriveDisputeToken(environment, name, 'a');
      const command = { type: 'ObserveDispute', environment, account: name, observed } as const;
      const cause = {
        correlationId: 'c',
        causationId: 'c',
        actor: { kind: 'service', name: 'disputes' },
      } as const;
      await other.execute(token, command, cause);
    };
    await pass(minute, account, 3);
    const statuses = (await history(account, 'a')).map(({ data }) => 'status' in data && data.status);
    expect(statuses).toEqual(['pending', 'approved']);
  });

  it('are the same after a restart', async () => {
    const account = main();
    account.disputes = [dispute('a')];
    const first = startPoller([account]);
    await first.hasRead(account, 1);
    await first.stop();
    const again = startPoller([account]);
    // It had not read it before it requested the list: it repeats the request.
    await again.hasRead(account, 3);
    expect(await types(account, 'a')).toEqual(['DisputeOpened']);
    expect(again.logged).toEqual([]);
  });
});

describe('accounts', () => {
  it('are separate, even if the provider uses one id for two disputes', async () => {
    const accounts = [main(), createFakeAccount('other'), createFakeAccount('main', 'production')] as const;
    for (const [index, account] of accounts.entries())
      account.disputes = [dispute('1', { amount: index + 1 })];
    const { payments, hasRead } = startPoller([...accounts]);
    payments.set('production/main/service-1', { token: 'pay_1', team: 'shop' });
    await hasRead(accounts[2], 1);
    for (const [index, account] of accounts.entries())
      expect(await history(account, '1')).toMatchObject([
        { data: { environment: account.environment, account: account.name, amount: index + 1 } },
      ]);
    expect((await history(accounts[2], '1'))[0]?.data).toHaveProperty('paymentToken', 'pay_1');
    expect((await history(accounts[0], '1'))[0]?.data).not.toHaveProperty('paymentToken');
  });

  it.each([
    ['warn', { kind: 'unknown', reason: 'timeout' }, 'timeout'],
    ['warn', { kind: 'not-sent', reason: 'ECONNREFUSED' }, 'ECONNREFUSED'],
    [
      'warn',
      { kind: 'refused', errors: [{ code: 'incorrect_private_key', kind: 'authentication_error' }] },
      'incorrect_private_key',
    ],
    ['error', new Error('a bug'), undefined],
  ] as const)(
    'that cannot be read do not stop the others, and are read again: %s, %j',
    async (level, fault, code) => {
      const [broken, sound] = [createFakeAccount('broken'), main()];
      if (fault instanceof Error) broken.beforeAnswer = () => Promise.reject(fault);
      else broken.fault = fault as InquiryOutcome<never>;
      broken.disputes = [dispute('a')];
      sound.disputes = [dispute('b')];
      const { pass, hasRead, warnings } = startPoller([broken, sound]);
      await hasRead(sound, 1);
      expect(await types(sound, 'b')).toEqual(['DisputeOpened']);
      const message = code === undefined ? 'were not recorded' : 'could not be read';
      expect(warnings(message)).toMatchObject([
        { level, fields: { account: 'broken', ...(code && { code }) } },
      ]);
      Object.assign(broken, { fault: undefined, beforeAnswer: async () => {} });
      await pass(minute, broken, 2);
      expect(await types(broken, 'a')).toEqual(['DisputeOpened']);
    },
  );
});

describe('a dispute that cannot be recorded', () => {
  it('is logged once while it is listed, and does not prevent others from being recorded', async () => {
    const { account, next, warnings } = await startOne([
      dispute('a', { amount: 0 }),
      dispute('b', { currency: '€' }),
      dispute('c'),
    ]);
    await next();
    expect(await types(account, 'c')).toEqual(['DisputeOpened']);
    expect(warnings('cannot be recorded').map(({ fields }) => fields.code)).toEqual([
      'dispute_amount_invalid',
      'dispute_currency_invalid',
    ]);
    account.disputes = [dispute('c')];
    await next();
    account.disputes = [dispute('a', { amount: 0 })];
    await next();
    expect(warnings('cannot be recorded')).toHaveLength(3);
  });

  it('because it is unreadable is logged again if there are more', async () => {
    const account = main();
    account.disputes = [dispute('a')];
    const { pass, hasRead, logged } = startPoller([account]);
    for (const [pass_, unreadable] of [1, 1, 2, 0, 1].entries()) {
      account.unreadable = unreadable;
      if (pass_ === 0) await hasRead(account, 1);
      else await pass(minute, account, pass_ + 1);
    }
    const counts = logged
      .filter(({ message }) => message.includes('cannot be read'))
      .map(({ fields }) => fields.count);
    expect(counts).toEqual([1, 2, 1]);
    expect(await types(account, 'a')).toEqual(['DisputeOpened']);
  });

  it('is logged once for each account', async () => {
    const accounts = [main(), createFakeAccount('other')] as const;
    for (const account of accounts) account.disputes = [dispute('a', { amount: 0 })];
    const { pass, hasRead, warnings } = startPoller([...accounts]);
    await hasRead(accounts[1], 1);
    await pass(minute, accounts[1], 2);
    await pass(minute, accounts[1], 3);
    expect(warnings('cannot be recorded').map(({ fields }) => fields.account)).toEqual(['main', 'other']);
  });

  it('because its stream is damaged does not prevent others from being recorded', async () => {
    const account = main();
    account.disputes = [dispute('a'), dispute('b')];
    const stream = disputeStream(deriveDisputeToken('sandbox', 'main', 'a'));
    const id = createFakeIds(7).uuid();
    await store.append(stream, [{ id, type: 'DisputeLost', data: {}, metadata: {} }], 'no-stream');
    const { hasRead, warnings } = startPoller([account]);
    await hasRead(account, 1);
    expect(await types(account, 'b')).toEqual(['DisputeOpened']);
    expect(warnings('was not recorded')).toMatchObject([{ level: 'error' }]);
  });

  it('because the store is down is recorded with a later reading', async () => {
    const account = main();
    account.disputes = [dispute('a'), dispute('b')];
    let isDown = true;
    const failing: EventStore = {
      ...store,
      append: async (...args) => {
        if (isDown) throw new TollgateError('store_unavailable', 'The store is down.', { retryable: true });
        return store.append(...args);
      },
    };
    const { pass, hasRead, warnings } = startPoller([account], { store: failing });
    await hasRead(account, 1);
    expect(warnings('were not recorded')).toHaveLength(1);
    isDown = false;
    await pass(minute, account, 2);
    expect(await types(account, 'a')).toEqual(['DisputeOpened']);
    expect(await types(account, 'b')).toEqual(['DisputeOpened']);
  });
});

describe('a full list', () => {
  const full = (from: number) => Array.from({ length: 100 }, (_, index) => dispute(`${from + index}`));
  const missed = 'older ones may be missing';

  it('of new disputes logs a warning: some may have been missed', async () => {
    const { account, next, warnings } = await startOne(full(0));
    expect(warnings(missed)).toMatchObject([{ level: 'warn', fields: { account: 'main', count: 100 } }]);
    // A known one shows that the list reaches back to the last reading.
    account.disputes = full(99);
    await next();
    expect(warnings(missed)).toHaveLength(1);
    // A provider that lists more than it announces.
    account.disputes = [...full(200), dispute('199')];
    await next();
    account.disputes = [...full(300), dispute('199')];
    await next();
    expect(warnings(missed)).toHaveLength(2);
    account.disputes = full(500);
    await next();
    expect(warnings(missed)).toHaveLength(3);
    account.disputes = full(700).slice(1);
    await next();
    expect(warnings(missed)).toHaveLength(3);
  });
});

describe('a reading', () => {
  it('comes every minute, or as often as configured', async () => {
    const [account, often] = [main(), main()];
    const byDefault = startPoller([account]);
    const configured = startPoller([often], { pollEveryMs: 5 * second });
    await byDefault.hasRead(account, 1);
    await configured.hasRead(often, 1);
    await byDefault.pass(minute - 1, account, 1);
    await byDefault.pass(1, account, 2);
    await configured.pass(5 * second - 1, often, 1);
    await configured.pass(1, often, 2);
  });

  it('begins at once after a nudge', async () => {
    const account = main();
    const { pass, hasRead, poller } = startPoller([account]);
    await hasRead(account, 1);
    await pass(10 * second, account, 1);
    poller.nudge();
    await hasRead(account, 2);
    // And on schedule from then on.
    await pass(minute - 1, account, 2);
    await pass(1, account, 3);
  });

  it('begins once a second at most, however many nudges arrive', async () => {
    const account = main();
    const { pass, hasRead, poller } = startPoller([account]);
    await hasRead(account, 1);
    for (let count = 0; count < 10; count += 1) poller.nudge();
    await pass(second - 1, account, 1);
    await pass(1, account, 2);
    await pass(30 * second, account, 2);
  });

  it('under way may have missed the subject of a nudge: another one follows', async () => {
    const account = main();
    const { pass, hasRead, poller } = startPoller([account]);
    await hasRead(account, 1);
    account.beforeAnswer = async () => {
      account.beforeAnswer = async () => {};
      account.disputes = [dispute('a')];
      poller.nudge();
    };
    await pass(minute, account, 2);
    expect(await history(account, 'a')).toEqual([]);
    await pass(second, account, 3);
    expect(await types(account, 'a')).toEqual(['DisputeOpened']);
  });

  it('that is stopped ends between two disputes, and the poller with it', async () => {
    const account = main();
    account.disputes = [dispute('a'), dispute('b')];
    const answered = Promise.withResolvers<undefined>();
    account.beforeAnswer = async () => answered.promise;
    const { stop } = startPoller([account]);
    const stopped = stop();
    answered.resolve(undefined);
    await stopped;
    expect(account.readCount).toBe(1);
    expect(await history(account, 'a')).toEqual([]);
  });
});

it('the token of a dispute is derived from environment, account and id', () => {
  expect(deriveDisputeToken('sandbox', 'main', '17')).toMatch(/^dsp_[a-z2-7]{26}$/);
  const tokens = [
    ...[deriveDisputeToken('sandbox', 'main', '17'), deriveDisputeToken('production', 'main', '17')],
    ...[deriveDisputeToken('sandbox', 'other', '17'), deriveDisputeToken('sandbox', 'main', '18')],
  ];
  expect(new Set(tokens).size).toBe(4);
});
