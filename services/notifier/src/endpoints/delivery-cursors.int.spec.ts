import { beginning } from '@tollgate/event-store';
import { temporaryStore } from '@tollgate/event-store/testing';
import { silentLog, systemIds, dayMs } from '@tollgate/service-kit';
import { createFakeClock, eventually } from '@tollgate/testing';
import { expect, it, onTestFinished } from 'vitest';
import { tokenAtEndpoint } from '../webhook-events.ts';
import { createWebhookJournal } from '../webhook-journal.ts';
import { retainWebhooks } from '../webhook-retention.ts';
import { createFailingWebhooks } from '../failing/failing-webhooks.ts';
import { createDeliveryList } from './delivery-list.ts';

const endpoint = 'we_000000000001';

/**
 * An endpoint had been disabled, and a team replayed ten payments' webhooks, five at a time. The second five were asked of another
 * instance, whose places were others, as it had begun after old webhooks were let go of: it had nothing, and no cursor either.
 */
it('leads with a cursor to the next deliveries also where another process, or the same one after a restart, answers', async () => {
  const store = await temporaryStore();
  const clock = createFakeClock({ now: Date.UTC(2030, 0, 1) });
  const deps = { store, clock, ids: systemIds, log: silentLog };
  const journal = createWebhookJournal(deps);
  const record = async (token: string, outcome: Parameters<typeof journal.recordOutcome>[2]) => {
    const [id, at] = [`whk_${token}`, clock.now()];
    const owner = { environment: 'sandbox', team: 'shop' } as const;
    const body = {
      token,
      type: 'payment',
      status: 'approved',
      orderNumber: null,
      amount: 1,
      currency: 'EUR',
    } as const;
    const stream = tokenAtEndpoint(endpoint, token);
    const cause = { correlationId: systemIds.uuid(), causationId: systemIds.uuid() };
    await journal.recordDue(
      stream,
      [{ id, ...owner, url: 'https://shop.example/', endpoint, body, at }],
      cause,
    );
    await journal.recordOutcome(stream, id, outcome);
  };
  const start = () => {
    const list = createDeliveryList({ ...deps, retentionMs: 30 * dayMs });
    const all = createFailingWebhooks({ ...deps, retentionMs: 30 * dayMs });
    onTestFinished(async () => {
      await Promise.all([list.stop(), all.stop()]);
    });
    return { list, all, rows: () => Promise.all([list.rows(), all.rows()]) };
  };
  for (let count = 0; count < 20; count += 1)
    await record(`old_${count}`, { kind: 'answered', statusCode: 200 });
  const longRunning = start();
  await longRunning.rows();

  await clock.advance(31 * dayMs);
  const ending = new AbortController();
  const retaining = retainWebhooks({ ...deps, journal, retentionMs: 30 * dayMs }, ending.signal);
  await eventually(async () =>
    expect(await Array.fromAsync(store.read('webhook-we_000000000001.old_19'))).toHaveLength(1),
  );
  ending.abort();
  await retaining;
  for (let count = 0; count < 10; count += 1) await record(`new_${count}`, { kind: 'abandoned' });

  const restarted = start();
  const [[one, oneOfAll], [other, otherOfAll]] = [await longRunning.rows(), await restarted.rows()];
  const failed = { status: 'failed', owners: undefined } as const;
  const limit = 5;
  await eventually(async () => expect(one.page(endpoint, failed, undefined, 50)).toHaveLength(10));
  const tokens = (rows: readonly { token: string }[]) => rows.map(({ token }) => token.split('.')[1]);

  // `POST …/deliveries/replay`, 5 at a time, oldest first.
  const first = one.oldest(endpoint, failed, beginning, limit);
  const second = other.oldest(endpoint, failed, first.at(-1)?.place ?? beginning, limit);
  // `GET …/deliveries`, latest first.
  const shown = other.page(endpoint, failed, undefined, limit);
  const next = one.page(endpoint, failed, shown.at(-1), limit);
  const replayed = [...tokens(first), ...tokens(second)];
  expect(replayed).toEqual(Array.from({ length: 10 }, (_, count) => `new_${count}`));
  expect([...tokens(shown), ...tokens(next)]).toEqual(replayed.toReversed());
  // The same list for those who operate the gateway.
  await eventually(async () => expect(oneOfAll.count(failed)).toBe(10));
  const firstOfAll = oneOfAll.oldest(failed, beginning, limit);
  const rest = otherOfAll.oldest(failed, firstOfAll.at(-1)!.place, limit);
  expect([...tokens(firstOfAll), ...tokens(rest)]).toEqual(replayed);
  const shownOfAll = otherOfAll.page(failed, undefined, limit);
  const nextOfAll = oneOfAll.page(failed, shownOfAll.at(-1)!.place, limit);
  expect([...tokens(shownOfAll), ...tokens(nextOfAll)]).toEqual(replayed.toReversed());
});
