/** Reads the whole store with the code of this release, and changes nothing. */
import {
  type EventStore,
  type RecordedEvent,
  StoreUnavailable,
  beginning,
  type Revision,
} from '@tollgate/event-store';
import { decodeWebhookEvent, webhookStreamPrefix } from '@tollgate/notifier';
import {
  decodeReconciliationEvent,
  decodeReconciliationJournalEvent,
  reconciliationJournal,
  reconciliationStreamPrefix,
  recurringStream,
  recurringTokenStoredSchema,
  refundKeyStream,
  refundKeyUsedSchema,
} from '@tollgate/payment-domain';
import { errorCode } from '@tollgate/service-kit';
import { decodeTeamEvent, evolveTeam, teamStreamPrefix } from '@tollgate/teams';
import { type ViewKind, viewKinds } from '@tollgate/views';

interface Unreadable {
  stream: string;
  revision: Revision;
  type: string;
  /** Such as `event_of_newer_version`. */
  code: string;
  message: string;
}

export interface StoreCheck {
  /** Streams that were read to their end, by what they are of. */
  streams: Record<string, number>;
  events: number;
  unreadable: Unreadable[];
}

/** How the streams of one kind are read: the state after an event, or nothing where each stands for itself. */
interface StreamKind {
  name: string;
  prefix: string;
  step(state: unknown, event: RecordedEvent): unknown;
}

const each = (name: string, prefix: string, decode: (event: RecordedEvent) => unknown): StreamKind => ({
  ...{ name, prefix },
  step: (_state, event) => void decode(event),
});

const ofViews = viewKinds.map((kind: ViewKind): StreamKind => ({
  ...{ name: kind.name, prefix: kind.streamPrefix },
  step: (state, event) => kind.fold(state as Parameters<typeof kind.fold>[0], event),
}));

const streamKinds: readonly StreamKind[] = [
  ...ofViews,
  {
    ...{ name: 'team', prefix: teamStreamPrefix },
    step: (state, event) => evolveTeam(state as Parameters<typeof evolveTeam>[0], decodeTeamEvent(event)),
  },
  each('webhook', webhookStreamPrefix, decodeWebhookEvent),
  each('reconciliation', reconciliationStreamPrefix, decodeReconciliationEvent),
  each('reconciliations', reconciliationJournal, decodeReconciliationJournalEvent),
  each('refund key', refundKeyStream(''), ({ data }) => refundKeyUsedSchema.parse(data)),
  each('recurring token', recurringStream(''), ({ data }) => recurringTokenStoredSchema.parse(data)),
];

const reportEvery = 10_000;
const unreadableMax = 100;

/** @throws StoreUnavailable; what the signal was aborted with */
export async function checkStore(
  { store, signal }: { store: EventStore; signal: AbortSignal },
  onProgress: (events: number) => void,
): Promise<StoreCheck> {
  const check: StoreCheck = { streams: {}, events: 0, unreadable: [] };
  const prefixes = streamKinds.map(({ prefix }) => prefix);
  const reading = new AbortController();
  const subscription = store.subscribe({
    ...{ from: beginning, prefixes },
    signal: AbortSignal.any([signal, reading.signal]),
  });
  for await (const item of subscription) {
    if (item.kind === 'caught-up') break;
    // Each stream is read whole where it begins: its state need not be kept then.
    if (item.revision !== 0) continue;
    const kind = streamKinds.find(({ prefix }) => item.stream.startsWith(prefix));
    if (kind === undefined) continue;
    const before = Math.floor(check.events / reportEvery);
    await readStream(store, kind, item.stream, check);
    if (Math.floor(check.events / reportEvery) > before) onProgress(check.events);
    if (check.unreadable.length >= unreadableMax) break;
  }
  reading.abort();
  signal.throwIfAborted();
  return check;
}

async function readStream(
  store: EventStore,
  kind: StreamKind,
  stream: string,
  check: StoreCheck,
): Promise<void> {
  check.streams[kind.name] = (check.streams[kind.name] ?? 0) + 1;
  let state: unknown;
  for await (const event of store.read(stream)) {
    try {
      state = kind.step(state, event);
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      check.unreadable.push(toUnreadable(event, error));
      return;
    }
    check.events += 1;
  }
}

const toUnreadable = ({ stream, revision, type }: RecordedEvent, error: unknown): Unreadable => ({
  ...{ stream, revision, type },
  code: errorCode(error) ?? 'event_undecodable',
  message: error instanceof Error ? (error.message.split('\n')[0] ?? '') : '',
});
