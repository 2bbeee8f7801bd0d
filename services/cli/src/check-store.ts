/** Reads the whole store with this release's code, and changes nothing. */
import { type EventStore, type RecordedEvent, beginning, eventsUntilNow } from '@tollgate/event-store';
import {
  decodeEndpointEvent,
  decodeWebhookEvent,
  endpointStreamPrefix,
  webhookStreamPrefix,
} from '@tollgate/webhooks';
import {
  decodeReconciliationEvent,
  decodeReconciliationJournalEvent,
  reconciliationJournal,
  reconciliationStreamPrefix,
} from '@tollgate/reconciliation';
import {
  recurringStream,
  recurringTokenStoredSchema,
  refundKeyStream,
  refundKeyUsedSchema,
} from '@tollgate/core';
import { errorCode } from '@tollgate/service-kit';
import { decodeTeamEvent, evolveTeam, teamStreamPrefix } from '@tollgate/teams';
import { type ViewKind, viewKinds } from '@tollgate/views';
import { z } from 'zod';

export interface StoreCheck {
  /** Number of events read, by kind. */
  events: Record<string, number>;
  /** Number of streams with a state, by state. */
  streams: Record<string, number>;
  unreadable: ReturnType<typeof toUnreadable>[];
}

/** How the events of one kind of stream are read. */
type StreamKind = { name: string; prefix: string } & (
  | { step(state: unknown, event: RecordedEvent): unknown }
  /** Events are independent of one another: the first ones of such a stream may have been truncated. */
  | { decode(event: RecordedEvent): unknown }
);

const ofViews = viewKinds.map((kind: ViewKind): StreamKind => ({
  name: kind.name,
  prefix: kind.streamPrefix,
  step: (state, event) => kind.fold(state as Parameters<typeof kind.fold>[0], event),
}));

const streamKinds: readonly StreamKind[] = [
  ...ofViews,
  {
    name: 'team',
    prefix: teamStreamPrefix,
    step: (state, event) => evolveTeam(state as Parameters<typeof evolveTeam>[0], decodeTeamEvent(event)),
  },
  { name: 'webhook', prefix: webhookStreamPrefix, decode: decodeWebhookEvent },
  { name: 'webhook endpoints', prefix: endpointStreamPrefix, decode: decodeEndpointEvent },
  { name: 'reconciliation', prefix: reconciliationStreamPrefix, decode: decodeReconciliationEvent },
  { name: 'reconciliations', prefix: reconciliationJournal, decode: decodeReconciliationJournalEvent },
  { name: 'refund key', prefix: refundKeyStream(''), decode: ({ data }) => refundKeyUsedSchema.parse(data) },
  {
    name: 'recurring token',
    prefix: recurringStream(''),
    decode: ({ data }) => recurringTokenStoredSchema.parse(data),
  },
];

const reportEvery = 10_000;
const unreadableMax = 100;

/** @throws StoreUnavailable; the signal's reason if aborted */
export async function checkStore(
  { store, signal }: { store: EventStore; signal: AbortSignal },
  onProgress: (events: number) => void,
): Promise<StoreCheck> {
  const check: StoreCheck = { events: {}, streams: {}, unreadable: [] };
  const prefixes = streamKinds.map(({ prefix }) => prefix);
  for await (const item of eventsUntilNow(store, { from: beginning, prefixes, signal })) {
    const before = Math.floor(eventsRead(check) / reportEvery);
    await readFrom(store, item, check);
    const count = eventsRead(check);
    if (Math.floor(count / reportEvery) > before) onProgress(count);
    if (check.unreadable.length >= unreadableMax) break;
  }
  return check;
}

export const eventsRead = ({ events }: StoreCheck): number =>
  Object.values(events).reduce((sum, count) => sum + count, 0);

/** A stream with a state is read whole at its first event, so that its state need not be kept. */
async function readFrom(store: EventStore, event: RecordedEvent, check: StoreCheck): Promise<void> {
  const kind = streamKinds.find(({ prefix }) => event.stream.startsWith(prefix));
  if (kind === undefined) return;
  if ('decode' in kind) return void tryToRead(check, kind, event, () => kind.decode(event));
  if (event.revision !== 0) return;
  check.streams[kind.name] = (check.streams[kind.name] ?? 0) + 1;
  let state: unknown;
  for await (const each of store.read(event.stream))
    if (!tryToRead(check, kind, each, () => (state = kind.step(state, each)))) return;
}

function tryToRead(
  check: StoreCheck,
  { name }: StreamKind,
  event: RecordedEvent,
  read: () => unknown,
): boolean {
  try {
    read();
    check.events[name] = (check.events[name] ?? 0) + 1;
    return true;
  } catch (error) {
    check.unreadable.push(toUnreadable(event, error));
    return false;
  }
}

const toUnreadable = ({ stream, revision, type }: RecordedEvent, error: unknown) => ({
  stream,
  revision,
  type,
  code: errorCode(error) ?? 'event_undecodable',
  message: messageOf(error),
});

function messageOf(error: unknown): string {
  if (error instanceof z.ZodError)
    return error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; ');
  return error instanceof Error ? error.message : '';
}
