import { afterAll, beforeAll, describe, onTestFinished } from 'vitest';
import type { EventStore } from '../event-store.ts';
import { describeAppend } from './append.contract.ts';
import { describeClose } from './close.contract.ts';
import { describeHead } from './head.contract.ts';
import { describeKeepLast } from './keep-last.contract.ts';
import { describeRead } from './read.contract.ts';
import { describeTruncate } from './truncate.contract.ts';
import { describeSubscribe } from './subscribe.contract.ts';

/** The suite's requirements of an adapter. */
export interface OpenEventStore {
  store: EventStore;
  /** Opens one more store over the same data; the suite closes it. */
  openAnother(): Promise<EventStore>;
  /** Releases the other resources of opening, after the stores were closed. */
  dispose?(): Promise<void>;
}

/** The stores of the suite. */
export interface Stores {
  /** One store for all tests; a test that closes a store takes another one. */
  store(): EventStore;
  another(): Promise<EventStore>;
}

/**
 * The requirements of the port, sentence by sentence. Streams have fresh names in each test, so the store need not be empty.
 */
export function describeEventStore(name: string, open: () => Promise<OpenEventStore>): void {
  describe(name, () => {
    let opened: OpenEventStore;

    beforeAll(async () => {
      opened = await open();
    });

    afterAll(async () => {
      await opened.store.close();
      await opened.dispose?.();
    });

    const given: Stores = {
      store: () => opened.store,
      another: async () => {
        const store = await opened.openAnother();
        onTestFinished(() => store.close());
        return store;
      },
    };
    describeAppend(given);
    describeRead(given);
    describeKeepLast(given);
    describeTruncate(given);
    describeSubscribe(given);
    describeHead(given);
    describeClose(given);
  });
}
