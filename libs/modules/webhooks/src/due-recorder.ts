/** Payments and payouts → due webhooks. The checkpoint moves only once they are durable; a repeat adds nothing. */
import {
  StoreUnavailable,
  beginning,
  createBatchAge,
  createCheckpoint,
  createFailedStreams,
  createFoldedStates,
  createRecentlyUsed,
  failedStreamSchema,
  failureAt,
  positionSchema,
  type EventStore,
  type FailedStream,
  type FailedStreams,
  type RecordedEvent,
  type Step,
} from '@tollgate/event-store';
import { eventMetadataSchema } from '@tollgate/core';
import { type Clock, type Ids, type Log, isRetryable } from '@tollgate/service-kit';
import type { ViewEnvelope } from '@tollgate/views';
import { z } from 'zod';
import {
  createEndpointDirectory,
  isOfEndpoints,
  type EndpointCount,
  type EndpointDirectory,
} from './endpoints/endpoint-directory.ts';
import { endpointStreamPrefix } from './endpoints/endpoint.ts';
import type { WebhookJournal } from './webhook-journal.ts';
import {
  type DueWebhook,
  type Subject,
  noticesOf,
  subjectOfStream,
  subjectStreamPrefixes,
} from './notices.ts';

export interface DueRecorderDependencies {
  store: EventStore;
  journal: WebhookJournal;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Receives a function that counts the standing endpoints. */
  onEndpoints?: (count: () => EndpointCount) => void;
}

const checkpointStream = 'checkpoint-notifier';
const checkpointSchema = z.object({
  /** The webhooks of every event up to here are recorded, except those of the failed streams. */
  position: positionSchema,
  failedStreams: z.array(failedStreamSchema),
});
// The first run over an existing store sends webhooks for its past, late. It must not begin at the end: a run that died before
// its first
// checkpoint looks the same, and its webhooks would never be sent.
const initial: z.infer<typeof checkpointSchema> = { position: beginning, failedStreams: [] };
/** Minimum interval between two writes: a repeat adds nothing. @unit milliseconds */
const checkpointEveryMs = 1_000;

/** Maximum webhooks recorded together. */
const batchSize = 100;
const prefixes = [...subjectStreamPrefixes, endpointStreamPrefix];

/** Payments and payouts kept in memory. */
const statesMax = 1_000;

/** The webhooks due for one event of one payment or payout, and one receiver. */
interface DueByEvent {
  token: string;
  event: RecordedEvent;
  due: readonly DueWebhook[];
}

/** Follows payments and payouts until the signal is aborted. @throws errors of the store */
export async function recordDueWebhooks(
  deps: DueRecorderDependencies,
  signal: AbortSignal,
  gotOn: () => void,
): Promise<void> {
  const { store, log } = deps;
  const checkpoint = createCheckpoint({ ...deps, stream: checkpointStream, schema: checkpointSchema });
  const { position: from, failedStreams } = (await checkpoint.read()) ?? initial;
  const failed = createFailedStreams(log, failedStreams);
  // As they were when an event was recorded, however late it is followed.
  const endpoints = createEndpointDirectory(log);
  await endpoints.catchUp(store, from, signal);
  deps.onEndpoints?.(endpoints.count);
  const dueBy = createDueBy(deps, failed, endpoints);
  for (const known of failedStreams) await bringIn(known);
  await follow();

  /** Retries a stream that failed: this version may be able to read it. */
  async function bringIn({ stream, revision }: FailedStream): Promise<void> {
    failed.delete(stream);
    for await (const event of store.read(stream, { from: revision })) {
      if (event.position > from || failed.has(stream)) return;
      await record(deps, await dueBy(event));
    }
  }

  async function follow(): Promise<void> {
    const age = createBatchAge(deps.clock);
    let batch: DueByEvent[] = [];
    for await (const item of store.subscribe({ from, prefixes, signal })) {
      if (item.kind === 'event') {
        batch.push(...(await dueBy(item)));
        if (batch.length > 0 && batch.length < batchSize && !age.isDueWith()) continue;
      }
      await record(deps, batch);
      batch = [];
      age.restart();
      if (checkpoint.ageMs() >= checkpointEveryMs)
        await checkpoint.advance({ position: item.position, failedStreams: failed.list() });
      gotOn();
    }
  }
}

/** Returns the function that finds the webhooks due for an event; an unreadable stream is quarantined. */
function createDueBy(
  { store, clock }: DueRecorderDependencies,
  failed: FailedStreams,
  endpoints: EndpointDirectory,
) {
  const states = createFoldedStates<ViewEnvelope>(store, { statesMax });
  /** Streams without a `callbackUrl`. */
  const unaddressed = createRecentlyUsed<typeof noted>(statesMax);

  /** Without an endpoint, nothing else of it is needed. */
  function isOfNobody(event: RecordedEvent): boolean {
    if (event.revision === 0 && hasNoAddress(event)) unaddressed.set(event.stream, noted);
    return endpoints.isEmpty() && unaddressed.has(event.stream);
  }

  async function stepOf(subject: Subject, event: RecordedEvent): Promise<Step<ViewEnvelope> | undefined> {
    try {
      return await states.stepOf(event, subject.kind.fold);
    } catch (error) {
      // Not the fault of the stream: following restarts at the checkpoint.
      if (error instanceof StoreUnavailable) throw error;
      failed.add(failureAt(event, error));
      return undefined;
    }
  }

  return async (event: RecordedEvent): Promise<DueByEvent[]> => {
    if (isOfEndpoints(event)) endpoints.apply(event);
    const subject = subjectOfStream(event.stream);
    if (subject === undefined || failed.has(event.stream) || isOfNobody(event)) return [];
    const step = await stepOf(subject, event);
    if (step === undefined) return [];
    const { before, after } = step;
    const { environment, team } = subject.termsOf(after);
    const known = { endpoints: endpoints.of({ environment, team }), now: clock.now() };
    if (noticesOf(subject, event, step, known).length === 0) return [];
    const completed = await subject.completed(store, event, after);
    const notices = noticesOf(subject, event, { before, after: completed }, known);
    return notices.map((each) => ({ ...each, event }));
  };
}

const noted = {};

/** The terms of a payment or payout are in its first event. */
function hasNoAddress({ data }: RecordedEvent): boolean {
  const { terms } = (data ?? {}) as { terms?: unknown };
  return typeof terms === 'object' && terms !== null && !('callbackUrl' in terms);
}

/** Payments and payouts in parallel, so that the store commits them together; within one, event after event. */
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
    if (isRetryable(error)) throw error;
    log.error({ error, token }, 'a stream cannot be read; its webhooks are stopped');
  }
}
