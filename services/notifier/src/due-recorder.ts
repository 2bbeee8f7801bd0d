/** Payments and payouts → webhooks that are due. The checkpoint moves only once they are durable; a repeat adds nothing. */
import { beginning, type EventStore, type Position, type RecordedEvent } from '@tollgate/event-store';
import { eventMetadataSchema } from '@tollgate/payment-domain';
import type { Clock, Ids, Log } from '@tollgate/service-kit';
import { z } from 'zod';
import { createCheckpoint } from './checkpoint.ts';
import { noticesOf, type DueWebhook } from './notices.ts';
import { isPassing, type WebhookJournal } from './webhook-journal.ts';
import { createSubjectHistories, type SubjectHistories } from './subject-histories.ts';
import { subjectOfStream, subjectStreamPrefixes } from './subjects.ts';

export interface DueRecorderDependencies {
  store: EventStore;
  journal: WebhookJournal;
  clock: Clock;
  ids: Ids;
  log: Log;
}

const checkpointOptions = {
  name: 'notifier',
  schema: z.object({ position: z.string().transform((text) => text as Position) }),
  // A first run over a store with a past tells that past, late. It must not begin at the end instead: a run that died
  // before its first checkpoint looks the same, and what happened before its end would never be told.
  initial: { position: beginning },
};

/** Webhooks that are written down together at most. */
const batchSize = 100;

/** What is due by one event about one payment or payout. */
interface DueByEvent {
  token: string;
  event: RecordedEvent;
  due: readonly DueWebhook[];
}

/** Follows payments and payouts until the signal is aborted. @throws what the store throws */
export async function recordDueWebhooks(deps: DueRecorderDependencies, signal: AbortSignal): Promise<void> {
  const checkpoint = createCheckpoint(deps, checkpointOptions);
  const { position: from } = await checkpoint.read();
  const histories = createSubjectHistories(deps);
  let batch: DueByEvent[] = [];
  for await (const item of deps.store.subscribe({ from, prefixes: subjectStreamPrefixes, signal })) {
    if (item.kind === 'event') {
      batch.push(...(await dueBy(deps, histories, item)));
      if (batch.length > 0 && batch.length < batchSize) continue;
    }
    await record(deps, batch);
    batch = [];
    await checkpoint.write(() => ({ position: item.position }));
  }
}

async function dueBy(
  { store, clock }: DueRecorderDependencies,
  histories: SubjectHistories,
  event: RecordedEvent,
): Promise<DueByEvent[]> {
  const subject = subjectOfStream(event.stream);
  const step = subject && (await histories.stepOf(subject, event));
  if (subject === undefined || step === undefined) return [];
  const { before, after } = step;
  if (noticesOf(subject, event, step, clock.now()).length === 0) return [];
  const completed = await subject.completed(store, event, after);
  const due = noticesOf(subject, event, { before, after: completed }, clock.now());
  return [{ token: after.token, event, due }];
}

/** Payments and payouts side by side, so that the store commits them together; of one, event after event. */
async function record(deps: DueRecorderDependencies, batch: readonly DueByEvent[]): Promise<void> {
  const byToken = Map.groupBy(batch, ({ token }) => token);
  await Promise.all(
    [...byToken].map(async ([token, events]) => {
      for (const each of events) await recordOne(deps, token, each);
    }),
  );
}

async function recordOne(
  { journal, log }: DueRecorderDependencies,
  token: string,
  { event, due }: DueByEvent,
): Promise<void> {
  const { correlationId } = eventMetadataSchema.parse(event.metadata);
  try {
    await journal.recordDue(token, due, { correlationId, causationId: event.id });
  } catch (error) {
    if (isPassing(error)) throw error;
    log.error({ error, token }, 'webhooks cannot be read; the team is not notified of this any more');
  }
}
