import { type EventStore, type RecordedEvent, StoreUnavailable } from '@tollgate/event-store';
import { type PaymentDocument, foldPaymentDocument } from '@tollgate/read-models';
import type { Log } from '@tollgate/service-kit';

/** Payments held in memory at most; the least recently used go first and are read again when they come back. */
const paymentsMax = 10_000;

export interface PaymentHistories {
  /** The payment as it stood right after an event; undefined where its stream cannot be read on. */
  documentAfter(event: RecordedEvent): Promise<PaymentDocument | undefined>;
}

export function createPaymentHistories(store: EventStore, log: Log): PaymentHistories {
  const documents = new Map<string, PaymentDocument>();
  const damaged = new Set<string>();

  async function documentBefore(event: RecordedEvent): Promise<PaymentDocument | undefined> {
    const known = documents.get(event.stream);
    if (known !== undefined || event.revision === 0) return known;
    let document: PaymentDocument | undefined;
    for await (const earlier of store.read(event.stream, { limit: event.revision }))
      document = foldPaymentDocument(document, earlier);
    return document;
  }

  return {
    async documentAfter(event) {
      if (damaged.has(event.stream)) return undefined;
      try {
        const document = foldPaymentDocument(await documentBefore(event), event);
        remember(documents, event.stream, document);
        return document;
      } catch (error) {
        // Says nothing about the stream: the publisher begins again from the last records.
        if (error instanceof StoreUnavailable) throw error;
        // One damaged stream must not keep the events of all other payments from their consumers.
        damaged.add(event.stream);
        log.error(
          { error, stream: event.stream, revision: event.revision },
          'a payment cannot be published any more',
        );
        return undefined;
      }
    },
  };
}

function remember(documents: Map<string, PaymentDocument>, stream: string, document: PaymentDocument): void {
  documents.delete(stream);
  documents.set(stream, document);
  const [oldest] = documents.keys();
  if (documents.size > paymentsMax && oldest !== undefined) documents.delete(oldest);
}
