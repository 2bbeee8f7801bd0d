import { type RecordedEvent, beginning } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemIds } from '@tollgate/service-kit';
import { createFakeClock } from '@tollgate/testing';
import { expect, it } from 'vitest';
import { queueAtEndpoint, webhookStream } from '../webhook-events.ts';
import { createWebhookJournal } from '../webhook-journal.ts';
import { createEndpointBook } from './endpoint-book.ts';
import { createEndpointDirectory } from './endpoint-directory.ts';
import { replayIfEnabled } from './replay-if-enabled.ts';

const owner = { environment: 'sandbox', team: 'shop' } as const;
const person = { kind: 'service', name: 'spec' } as const;
const url = 'https://shop.example/webhooks';
const token = queueAtEndpoint('we_1', 'pay_1');
const test = {
  token: 'test_1',
  type: 'test',
  status: 'approved',
  orderNumber: null,
  amount: 1,
  currency: 'EUR',
} as const;
const signal = new AbortController().signal;

async function givenWebhook() {
  const store = await temporaryStore();
  const clock = createFakeClock({ now: Date.UTC(2030, 0, 1) });
  const deps = { store, clock, ids: systemIds };
  const [journal, book, endpoints] = [
    createWebhookJournal(deps),
    createEndpointBook(deps),
    createEndpointDirectory(silentLog),
  ];
  const change = (status: 'enabled' | 'disabled') =>
    book.change(owner, { type: 'Change', id: 'we_1', to: { status }, at: clock.now() }, person);
  await book.change(owner, { type: 'Add', id: 'we_1', url, events: ['*'], at: clock.now() }, person);
  const due = { id: 'whk_1', ...owner, url, endpoint: 'we_1', body: test, at: clock.now() };
  await journal.recordDue(token, [due], { correlationId: 'c', causationId: 'c' });
  return {
    change,
    end: async (outcome: Parameters<typeof journal.recordOutcome>[2]) => {
      await clock.advance(1);
      await journal.recordOutcome(token, 'whk_1', outcome);
    },
    /** What the webhook is once the record of its end was followed. */
    followed: () => follow((events) => events.at(-1)),
    /** The same where the first record of its end is read again. */
    first: () => follow((events) => events[0]),
  };

  async function follow(which: (events: readonly RecordedEvent[]) => RecordedEvent | undefined) {
    await endpoints.catchUp(store, undefined, signal);
    const events: RecordedEvent[] = [];
    for await (const event of store.read(webhookStream(token))) events.push(event);
    const ended = which(events.filter(({ type }) => type === 'DeliveryGivenUp'));
    if (ended !== undefined) await replayIfEnabled({ store, journal, endpoints, log: silentLog }, ended);
    return (await journal.load(token)).state.webhooks.map(({ state }) => state);
  }
}

it('a webhook that was given up without an attempt behind the event that enabled its endpoint is open again', async () => {
  const { change, end, followed } = await givenWebhook();
  await change('disabled');
  await change('enabled');
  await end({ kind: 'abandoned' });
  expect(await followed()).toEqual(['open']);
});

it('one that was given up before that is for its team to replay', async () => {
  const { change, end, followed } = await givenWebhook();
  await change('disabled');
  await end({ kind: 'abandoned' });
  await change('enabled');
  expect(await followed()).toEqual(['given_up']);
});

it('one whose endpoint is disabled stays given up', async () => {
  const { change, end, followed } = await givenWebhook();
  await change('disabled');
  await end({ kind: 'abandoned' });
  expect(await followed()).toEqual(['given_up']);
});

it('one that was given up for its last attempt stays so, also where its endpoint is enabled', async () => {
  const { end, followed } = await givenWebhook();
  await end({ kind: 'answered', statusCode: 500 });
  expect(await followed()).toEqual(['given_up']);
});

// By the times of its attempts, each restart sent it once more: the first time that it was given up looked as if it had not been tried.
it('one that was replayed and tried since stays given up, however often its events are read again', async () => {
  const { end, followed, first } = await givenWebhook();
  await end({ kind: 'abandoned' });
  expect(await followed()).toEqual(['open']);
  await end({ kind: 'answered', statusCode: 500 });
  expect(await followed()).toEqual(['given_up']);
  expect(await first()).toEqual(['given_up']);
});

// It ended the sender, which began again before the same event: nobody was sent anything any more.
it('one that cannot be read is passed over', async () => {
  const store = await temporaryStore();
  const clock = createFakeClock({ now: Date.UTC(2030, 0, 1) });
  const deps = { store, clock, ids: systemIds };
  const written = { id: systemIds.uuid(), metadata: {}, type: 'WebhookDue', data: { id: 7 } };
  const ended = { ...written, id: systemIds.uuid(), type: 'DeliveryGivenUp', data: { id: 'whk_1', at: 1 } };
  await store.append(webhookStream(token), [written, ended], 'no-stream');
  const logged: string[] = [];
  const log = { ...silentLog, error: (_: object, message: string) => void logged.push(message) };
  const endpoints = { enabledSince: () => beginning };
  for await (const event of store.read(webhookStream(token), { from: 1 }))
    await replayIfEnabled({ store, journal: createWebhookJournal(deps), endpoints, log }, event);
  expect(logged).toEqual(['the webhooks of a subject cannot be read; they are skipped']);
});
