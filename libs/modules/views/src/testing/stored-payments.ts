/** Payments, payouts and disputes with their views in a real store, for specs. */
import { randomUUID } from 'node:crypto';
import {
  beginning,
  checkpointEventType,
  type Appended,
  type EventStore,
  type FailedStream,
  type Position,
} from '@tollgate/event-store';
import { paymentStream, type PaymentEvent } from '@tollgate/core';
import {
  checkpointStream,
  foldStream,
  streamOf,
  viewStreamOf,
  viewWrittenType,
  type ViewEnvelope,
  type ViewKind,
} from '../view-kind.ts';
import { type PaymentView, foldedPrefixes, paymentKind } from '../view-kinds.ts';

import { toNewEvents, type AnyEvent } from './histories.ts';
import { appended } from '@tollgate/event-store/testing';

/** The stream of a payment's view. */
export const paymentViewStream = (token: string): string => viewStreamOf(paymentStream(token));

/** Appends events of a stream after the existing ones. */
export async function appendEvents(
  store: EventStore,
  stream: string,
  events: readonly AnyEvent[],
): Promise<Appended> {
  const [last] = await Array.fromAsync(store.read(stream, { direction: 'backwards', limit: 1 }));
  const recorded = toNewEvents(events, randomUUID, (last?.revision ?? -1) + 1);
  return appended(await store.append(stream, recorded, last?.revision ?? 'no-stream'));
}

/** Appends events of a payment after the existing ones. */
export const appendPayment = (
  store: EventStore,
  token: string,
  events: readonly PaymentEvent[],
): Promise<Appended> => appendEvents(store, paymentStream(token), events);

/** The view after a rebuild from zero. */
export async function foldStored<View extends ViewEnvelope>(
  store: EventStore,
  kind: ViewKind<View>,
  token: string,
): Promise<View> {
  const view = await foldStream(store, kind, token);
  if (view === undefined) throw new Error(`there is no ${kind.name} ${token}`);
  return kind.schema.parse(view);
}

/** Writes like a projector: the current view of one stream. */
export async function writeView<View extends ViewEnvelope>(
  store: EventStore,
  kind: ViewKind<View>,
  token: string,
): Promise<View> {
  const view = await foldStored(store, kind, token);
  await plantView(store, kind, token, view);
  return view;
}

/** Stores any data in place of a view. */
export async function plantView(
  store: EventStore,
  kind: ViewKind,
  token: string,
  data: unknown,
): Promise<void> {
  const stream = viewStreamOf(streamOf(kind, token));
  const event = { id: randomUUID(), type: viewWrittenType, data, metadata: {} };
  await store.append(stream, [event], 'any', { keepLast: 1 });
}

/** The checkpoint of a projector that has written all views up to `position`, except those of the failed streams. */
export async function writeCheckpoint(
  store: EventStore,
  position: Position,
  failedStreams: readonly FailedStream[] = [],
): Promise<Appended> {
  const data = { position, counts: {}, failedStreams };
  const event = { id: randomUUID(), type: checkpointEventType, data, metadata: {} };
  return appended(await store.append(checkpointStream, [event], 'any', { keepLast: 1 }));
}

/** Events of one stream with its view and the checkpoint after it. */
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

/** A payment with its view and the checkpoint after it. */
export const projectPayment = (
  store: EventStore,
  token: string,
  events: readonly PaymentEvent[],
): Promise<PaymentView> => projectEvents(store, paymentKind, token, events);

/** The text of every stored view by its stream. */
export const storedViews = (store: EventStore): Promise<Map<string, string>> =>
  storedTexts(store, foldedPrefixes.map(viewStreamOf));

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
