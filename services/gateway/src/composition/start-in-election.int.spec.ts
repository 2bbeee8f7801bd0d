// A gateway that started while a cluster of EventStoreDB elected a leader ended with "The event store did not confirm": five of
// seven runs on a real cluster. A store that did not answer at all was waited for.
import { servedStore } from '@tollgate/event-store/testing/eventstoredb';
import { expect, it, vi } from 'vitest';
import type { ServiceName } from '../configuration/service-names.ts';
import { startHere } from './testing/start-here.ts';

vi.setConfig({ testTimeout: 90_000 });

type Server = Awaited<ReturnType<typeof servedStore>>['server'];

/** Longer than an append is repeated by itself. */
const electionMs = 4_000;

const elections: [string, (server: Server) => void][] = [
  ['no node answers as leader', ({ faults }) => (faults.state = 'no-leader')],
  ['a former leader still answers reads', ({ faults }) => (faults.onAppend = () => ({ kind: 'not-ready' }))],
];

async function startDuring(election: (server: Server) => void, services?: ServiceName[]) {
  const { server } = await servedStore();
  election(server);
  setTimeout(() => Object.assign(server.faults, { state: 'leading', onAppend: () => undefined }), electionMs);
  return startHere({
    env: { EVENTSTORE_URL: server.url },
    hasFollowerThread: true,
    ...(services && { services }),
  });
}

it.each(elections)('a whole gateway starts once a leader is elected, while %s', async (_, election) => {
  const gateway = await startDuring(election);
  expect(gateway.quickstart?.content.apiKey).toBeDefined();
});

it('a service alone starts once a leader is elected', async () => {
  const [, election] = elections[1]!;
  expect((await startDuring(election, ['callback-ingester'])).metricsUrl).toBeDefined();
});
