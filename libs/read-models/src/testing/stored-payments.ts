/** Payments and their documents in a real store, for specs. */
import { randomUUID } from 'node:crypto';
import {
  beginning,
  type Appended,
  type Conflict,
  type EventStore,
  type Position,
} from '@tollgate/event-store';
import { paymentStream, type PaymentEvent } from '@tollgate/payment-domain';
import { foldPaymentDocument, paymentDocumentSchema, type PaymentDocument } from '../payment-document.ts';
import {
  paymentCheckpointEventType,
  paymentCheckpointStream,
  paymentDocumentEventType,
  paymentViewStream,
} from '../payment-views.ts';
import { toNewEvents } from './payment-histories.ts';

/** @throws Error where the append met a conflict that the test does not expect. */
export function appended(answer: Appended | Conflict): Appended {
  if (answer.kind !== 'appended') throw new Error(`conflict, the stream is at ${answer.actual}`);
  return answer;
}

/** Appends events of a payment after those that are there. */
export async function appendPayment(
  store: EventStore,
  token: string,
  events: readonly PaymentEvent[],
): Promise<Appended> {
  const stream = paymentStream(token);
  const [last] = await Array.fromAsync(store.read(stream, { direction: 'backwards', limit: 1 }));
  const recorded = toNewEvents(events, randomUUID, (last?.revision ?? -1) + 1);
  return appended(await store.append(stream, recorded, last?.revision ?? 'no-stream'));
}

export async function foldStored(store: EventStore, token: string): Promise<PaymentDocument> {
  let document: PaymentDocument | undefined;
  for await (const event of store.read(paymentStream(token))) document = foldPaymentDocument(document, event);
  if (document === undefined) throw new Error(`there is no payment ${token}`);
  return paymentDocumentSchema.parse(document);
}

/** What a projector does: the document of one payment as it is now. */
export async function writeDocument(store: EventStore, token: string): Promise<PaymentDocument> {
  const document = await foldStored(store, token);
  const stream = paymentViewStream(token);
  await store.keepLast(stream, 1);
  await store.append(
    stream,
    [{ id: randomUUID(), type: paymentDocumentEventType, data: document, metadata: {} }],
    'any',
  );
  return document;
}

/** What a projector says when all documents up to `position` are written. */
export async function writeCheckpoint(store: EventStore, position: Position): Promise<Appended> {
  const data = { schemaVersion: 1, position, failedStreams: [] };
  const event = { id: randomUUID(), type: paymentCheckpointEventType, data, metadata: {} };
  return appended(await store.append(paymentCheckpointStream, [event], 'any'));
}

/** A payment with its document and the checkpoint after it. */
export async function projectPayment(
  store: EventStore,
  token: string,
  events: readonly PaymentEvent[],
): Promise<PaymentDocument> {
  const { position } = await appendPayment(store, token, events);
  const document = await writeDocument(store, token);
  await writeCheckpoint(store, position);
  return document;
}

/** The text of every stored document by its stream. */
export async function storedDocuments(store: EventStore): Promise<Map<string, string>> {
  const ending = new AbortController();
  const texts = new Map<string, string>();
  const subscription = { from: beginning, prefixes: ['view_payment-'], signal: ending.signal };
  for await (const item of store.subscribe(subscription)) {
    if (item.kind === 'caught-up') break;
    texts.set(item.stream, JSON.stringify(item.data));
  }
  ending.abort();
  return texts;
}
