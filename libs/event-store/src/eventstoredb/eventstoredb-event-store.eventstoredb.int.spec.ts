import { omitUndefined, systemClock } from '@tollgate/service-kit';
import { describeEventStore } from '../testing/event-store.contract.ts';
import { parseConnectionString } from './connection-string.ts';
import { createEventStoreDbStore } from './eventstoredb-event-store.ts';

/** @throws Error if no server is named: a suite that cannot run must not pass. */
function openNamedStore() {
  const url = process.env['EVENTSTORE_URL'];
  if (url === undefined || url === '')
    throw new Error('This spec needs an EventStoreDB: run it with npm run test:eventstoredb.');
  const { hosts, discovers, tls, credentials } = parseConnectionString(url, 'EVENTSTORE_URL');
  const connection = {
    hosts,
    discovers,
    tls: tls ? {} : (false as const),
    ...omitUndefined({ credentials }),
  };
  return createEventStoreDbStore({ connection, clock: systemClock });
}

describeEventStore('the store on EventStoreDB', async () => ({
  store: await openNamedStore(),
  openAnother: openNamedStore,
}));
