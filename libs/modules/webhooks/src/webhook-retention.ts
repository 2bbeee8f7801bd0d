/** Deletes the webhooks of a payment or payout some days after the last of them was delivered or abandoned. */
import {
  createCheckpoint,
  positionSchema,
  readLast,
  type EventStore,
  type Position,
  beginning,
} from '@tollgate/event-store';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import { z } from 'zod';
import { queueOfStream, webhookStreamPrefix } from './webhook-events.ts';
import type { WebhookJournal } from './webhook-journal.ts';
import { nextTryAt } from './webhook-state.ts';

export interface WebhookRetentionDependencies {
  store: EventStore;
  journal: Pick<WebhookJournal, 'load'>;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Milliseconds. */
  retentionMs: number;
}

const checkpointStream = 'checkpoint-notifier_retention';
/** Every webhook event up to here is old enough, and its stream was checked. */
const checkpointSchema = z.object({ position: positionSchema });
const checkpointEvery = 1_000;
const betweenPassesMs = 3_600_000;

/** Now and every hour, until the signal is aborted. Never rejects. */
export async function retainWebhooks(deps: WebhookRetentionDependencies, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await truncateOld(deps, signal).catch((error: unknown) =>
      deps.log.warn({ error }, 'old webhooks could not be truncated; retrying'),
    );
    await deps.clock.sleep(betweenPassesMs, signal).catch(() => undefined);
  }
}

/**
 * Follows the events in their order, up to the first one that is too young. The last event of a stream decides: earlier ones
 * find the stream too young, and it is visited again with its later events.
 *
 * @throws StoreUnavailable
 */
async function truncateOld(deps: WebhookRetentionDependencies, signal: AbortSignal): Promise<void> {
  const { store, clock, retentionMs } = deps;
  const checkpoint = createCheckpoint({ ...deps, stream: checkpointStream, schema: checkpointSchema });
  const from = (await checkpoint.read())?.position ?? beginning;
  const youngest = clock.now() - retentionMs;
  let reached: Position = from;
  let met = 0;
  const reading = new AbortController();
  const both = AbortSignal.any([signal, reading.signal]);
  for await (const item of store.subscribe({ from, prefixes: [webhookStreamPrefix], signal: both })) {
    if (item.kind === 'caught-up' || item.recordedAt > youngest) break;
    await truncateSettled(deps, item.stream, youngest);
    reached = item.position;
    met += 1;
    if (met % checkpointEvery === 0) await checkpoint.advance({ position: reached });
  }
  reading.abort();
  if (reached > from) await checkpoint.advance({ position: reached });
}

async function truncateSettled(
  { store, journal, log }: WebhookRetentionDependencies,
  stream: string,
  youngest: number,
): Promise<void> {
  const last = await readLast(store, stream);
  if (last === undefined || last.recordedAt > youngest || last.revision === 0) return;
  try {
    const { state } = await journal.load(queueOfStream(stream));
    // Open or replayed webhooks, even since the load, are visited again with their outcome.
    if (nextTryAt(state) !== undefined) return;
    if ((await readLast(store, stream))?.revision === last.revision)
      await store.truncate(stream, last.revision);
  } catch (error) {
    // An unreadable stream is skipped.
    log.warn({ error, stream }, 'the webhooks of a stream could not be truncated');
  }
}
