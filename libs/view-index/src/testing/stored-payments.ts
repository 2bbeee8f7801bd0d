/** Payments, payouts and disputes with their documents in a real store, for specs. */
import { randomUUID } from 'node:crypto';
import { beginning, type Appended, type EventStore, type Position } from '@tollgate/event-store';
import { paymentStream, type PaymentEvent } from '@tollgate/payment-domain';
import {
  checkpointEventType,
  checkpointStream,
  totalsCheckpointStreamOf,
  streamOf,
  type ViewEnvelope,
  type ViewKind,
  viewSchemaVersions,
  paymentKind,
  viewStreamPrefixesOf,
  applyTotalsChanges,
  contributionOf,
  totalsStreamOf,
  totalsVersions,
  totalsWrittenEventType,
  type TotalsView,
  firstViewVersion,
  viewStreamOf,
} from '@tollgate/views';

import { foldStream } from '../view-reader.ts';
import type { PaymentView, PayoutView } from '@tollgate/views';

import { toNewEvents, type AnyEvent } from '@tollgate/views/testing';
import { appended } from '@tollgate/event-store/testing';

/** The stream of a payment's document. */
export const paymentViewStream = (token: string): string => viewStreamOf(paymentStream(token));

/** Appends events of a stream after those that are there. */
export async function appendEvents(
  store: EventStore,
  stream: string,
  events: readonly AnyEvent[],
): Promise<Appended> {
  const [last] = await Array.fromAsync(store.read(stream, { direction: 'backwards', limit: 1 }));
  const recorded = toNewEvents(events, randomUUID, (last?.revision ?? -1) + 1);
  return appended(await store.append(stream, recorded, last?.revision ?? 'no-stream'));
}

/** Appends events of a payment after those that are there. */
export const appendPayment = (
  store: EventStore,
  token: string,
  events: readonly PaymentEvent[],
): Promise<Appended> => appendEvents(store, paymentStream(token), events);

/** What rebuilding a document from zero gives. */
export async function foldStored<View extends ViewEnvelope>(
  store: EventStore,
  kind: ViewKind<View>,
  token: string,
): Promise<View> {
  const view = await foldStream(store, kind, token);
  if (view === undefined) throw new Error(`there is no ${kind.name} ${token}`);
  return kind.schema.parse(view);
}

/** What a projector does: the document of one stream as it is now. */
export async function writeView<View extends ViewEnvelope>(
  store: EventStore,
  kind: ViewKind<View>,
  token: string,
): Promise<View> {
  const view = await foldStored(store, kind, token);
  await plantView(store, kind, token, view);
  return view;
}

/** Puts any data in the place of a document. */
export async function plantView(
  store: EventStore,
  kind: ViewKind,
  token: string,
  data: unknown,
): Promise<void> {
  const stream = viewStreamOf(streamOf(kind, token));
  await store.keepLast(stream, 1);
  const event = { id: randomUUID(), type: kind.writtenEventType, data, metadata: {} };
  await store.append(stream, [event], 'any');
}

/** What a projector says when all documents up to `position` are written. */
export async function writeCheckpoint(
  store: EventStore,
  position: Position,
  changes: { viewSchemaVersions?: string } = {},
): Promise<Appended> {
  const data = { schemaVersion: 1, viewSchemaVersions, position, failedStreams: [], ...changes };
  const event = { id: randomUUID(), type: checkpointEventType, data, metadata: {} };
  await store.keepLast(checkpointStream, 1);
  return appended(await store.append(checkpointStream, [event], 'any'));
}

/** What a projector says when the totals are those of just these documents. */
export async function writeTotals(
  store: EventStore,
  views: readonly (PaymentView | PayoutView)[],
): Promise<Appended> {
  const totals = new Map<string, TotalsView>();
  const inOrder = [...views].sort((one, other) => (one.position < other.position ? -1 : 1));
  for (const view of inOrder) {
    const { key, lines } = contributionOf(view);
    const stream = totalsStreamOf(key, firstViewVersion);
    const { token, revision, position } = view;
    const change = { key, last: { stream: token, revision, position }, before: [], after: lines };
    const total = applyTotalsChanges(totals.get(stream), [change]);
    if (total !== undefined) totals.set(stream, total);
  }
  for (const [stream, data] of totals) {
    const event = { id: randomUUID(), type: totalsWrittenEventType, data, metadata: {} };
    await store.append(stream, [event], 'any');
  }
  const position = inOrder.at(-1)?.position ?? ('0' as Position);
  const data = { schemaVersion: 1, viewSchemaVersions: totalsVersions, position, failedStreams: [] };
  const event = { id: randomUUID(), type: checkpointEventType, data, metadata: {} };
  return appended(await store.append(totalsCheckpointStreamOf(firstViewVersion), [event], 'any'));
}

/** Events of one stream with its document and the checkpoint after it. */
export async function projectEvents<View extends ViewEnvelope>(
  store: EventStore,
  kind: ViewKind<View>,
  token: string,
  events: readonly AnyEvent[],
): Promise<View> {
  const { position } = await appendEvents(store, streamOf(kind, token), events);
  const view = await writeView(store, kind, token);
  await writeCheckpoint(store, position);
  return view;
}

/** A payment with its document and the checkpoint after it. */
export const projectPayment = (
  store: EventStore,
  token: string,
  events: readonly PaymentEvent[],
): Promise<PaymentView> => projectEvents(store, paymentKind, token, events);

/** The text of every stored document by its stream. */
export const storedViews = (
  store: EventStore,
  viewVersion = firstViewVersion,
): Promise<Map<string, string>> => storedTexts(store, viewStreamPrefixesOf(viewVersion));

/** The text of the last event of every stream with one of these prefixes. */
export async function storedTexts(
  store: EventStore,
  prefixes: readonly string[],
): Promise<Map<string, string>> {
  const ending = new AbortController();
  const texts = new Map<string, string>();
  const subscription = { from: beginning, prefixes, signal: ending.signal };
  for await (const item of store.subscribe(subscription)) {
    if (item.kind === 'caught-up') break;
    texts.set(item.stream, JSON.stringify(item.data));
  }
  ending.abort();
  return texts;
}
