import { createServer, type AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { Secret, StartupError, createLog, systemClock } from '@tollgate/service-kit';
import { generate } from 'selfsigned';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readLast } from '../follower/checkpoint.ts';
import { servedStore } from '../testing/eventstoredb-store.ts';
import { startTestServer } from '../testing/eventstoredb-server/server.ts';
import { temporaryStore } from '../testing/temporary-store.ts';
import { freshStream, givenEvents, readAll, readData } from '../testing/given-events.ts';
import { openLink } from './connection.ts';
import { createEventStoreDbStore } from './eventstoredb-event-store.ts';

vi.setConfig({ testTimeout: 60_000 });

const hostsOf = ({ port }: { port: number }) => [{ address: '127.0.0.1', port }];
const waiting = { timeout: 20_000, interval: 2 };

async function givenCertificate(): Promise<{ key: string; cert: string }> {
  const pems = await generate([{ name: 'commonName', value: 'localhost' }], {
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  return { key: pems.private, cert: pems.cert };
}

describe('a start', () => {
  it('ends with a sentence if the store does not answer in time', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const connection = { discovers: false, hosts: hostsOf({ port }), tls: false } as const;
    const lines: object[] = [];
    const log = createLog('spec', 'info', { write: (line) => void lines.push(JSON.parse(line) as object) });
    const opening = createEventStoreDbStore({ connection, clock: systemClock, log, reachWithinMs: 2_000 });
    await expect(opening).rejects.toThrow(StartupError);
    await expect(opening).rejects.toThrow('EVENTSTORE_URL');
    // For half a minute there was a stack and no reason.
    expect(lines).toMatchObject([
      {
        address: `127.0.0.1:${port}`,
        msg: `the event store does not answer yet (connect ECONNREFUSED 127.0.0.1:${port})`,
      },
    ]);
  });

  it('waits for a store that starts a little later', async () => {
    const { server, another, store } = await servedStore();
    server.goDown();
    const opening = another();
    await expect.poll(() => store.isReachable(), waiting).toBe(false);
    await server.comeBack();
    await expect((await opening).append(freshStream(), givenEvents(1), 'any')).resolves.toMatchObject({
      kind: 'appended',
    });
  });

  it('finds the leader of a cluster', async () => {
    const { server, another } = await servedStore();
    const hosts = [...hostsOf(server), { address: '127.0.0.1', port: 1 }];
    const store = await another({ connection: { discovers: true, hosts, tls: false } });
    expect(await store.append(freshStream(), givenEvents(1), 'any')).toMatchObject({ kind: 'appended' });
  });
});

describe('a cluster without an answering node', () => {
  // The search lasted as long as the client was configured for, minutes by default, and so did closing.
  it('ends a start with a sentence in time', async () => {
    const hosts = [1, 2].map((port) => ({ address: '127.0.0.1', port }));
    const settings = { maxDiscoverAttempts: 2, discoveryInterval: 300_000 };
    const connection = { discovers: true, hosts, tls: false, settings } as const;
    const options = { connection, clock: systemClock, reachWithinMs: 100, readSilenceMs: 100 };
    await expect(createEventStoreDbStore(options)).rejects.toThrow(StartupError);
    const one = { ...connection, discovers: false, hosts: hosts.slice(0, 1) };
    await expect(createEventStoreDbStore({ ...options, connection: one })).rejects.toThrow(
      'The event store at 127.0.0.1:1 (EVENTSTORE_URL) has not answered for 0.1 seconds (connect ECONNREFUSED 127.0.0.1:1): ',
    );
  });

  // The client checked the search, which failed, and the check was not awaited: the process ended.
  it('does not end the process when an older connection breaks meanwhile', async () => {
    const { server } = await servedStore();
    const hosts = [...hostsOf(server), { address: '127.0.0.1', port: 1 }];
    const settings = { maxDiscoverAttempts: 3, discoveryInterval: 100 };
    const { client, appendCredentials, close } = openLink({ discovers: true, hosts, tls: false, settings });
    onTestFinished(close);
    const unhandled: unknown[] = [];
    const note = (error: unknown) => void unhandled.push(error);
    process.on('unhandledRejection', note);
    onTestFinished(() => void process.off('unhandledRejection', note));
    const breaking = Promise.withResolvers<unknown>();
    client.subscribeToAll({}).on('error', breaking.resolve);
    await expect.poll(() => server.openSubscriptionCount(), waiting).toBe(1);
    server.faults.onAppend = () => ({ kind: 'not-ready' });
    const append = () => client.appendToStream(freshStream(), [], { credentials: appendCredentials });
    await expect(append()).rejects.toThrow('Not Ready');
    const searching = append();
    server.goDown();
    await expect(searching).rejects.toThrow('discover');
    await breaking.promise;
    // Node reports a rejection when all that was due has run.
    await new Promise((resolve) => setImmediate(resolve));
    expect(unhandled).toEqual([]);
  });
});

describe('with TLS and a user', () => {
  const user = { username: 'tollgate', password: 'hush-hush' };
  const credentials = { username: user.username, password: new Secret(user.password) };

  it('appends, reads and subscribes, and is not let in with another password', async () => {
    const tls = await givenCertificate();
    const trusting = { discovers: false, tls: { ca: tls.cert } };
    const { server } = await servedStoreOnTls(tls, user);
    const connection = { ...trusting, hosts: hostsOf(server), credentials };
    const store = await createEventStoreDbStore({ connection, clock: systemClock });
    onTestFinished(() => store.close());
    const stream = freshStream();
    await store.append(stream, givenEvents(2), 'no-stream');
    expect(await readData(store, stream)).toEqual([0, 1]);
    const wrong = { ...connection, credentials: { ...credentials, password: new Secret('guess-guess') } };
    const refused = createEventStoreDbStore({ connection: wrong, clock: systemClock });
    await expect(refused).rejects.toMatchObject({ code: 'store_forbidden' });
    const error: unknown = await refused.catch((each: unknown) => each);
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('guess-guess');
  });

  it("hides the password from anything that prints the client's settings", () => {
    const hosts = hostsOf({ port: 1 });
    const link = openLink({ discovers: false, hosts, tls: {}, credentials });
    onTestFinished(() => link.close());
    // The client prints the options of each append when DEBUG=esdb:* is set.
    expect(inspect({ options: { credentials: link.appendCredentials } }, { depth: 9 })).not.toContain('hush');
  });
});

async function servedStoreOnTls(
  tls: { key: string; cert: string },
  user: { username: string; password: string },
) {
  const server = await startTestServer({ store: await temporaryStore(), tls, user });
  onTestFinished(() => server.close());
  return { server };
}

describe('reading', () => {
  it('ends with an error if the store is silent or unavailable', async () => {
    const { store, server } = await servedStore({ readSilenceMs: 500 });
    const stream = freshStream();
    await store.append(stream, givenEvents(1), 'no-stream');
    server.goDown();
    await expect(readAll(store, stream)).rejects.toMatchObject({
      code: 'store_unreachable',
      retryable: true,
    });
    await server.comeBack();
    server.faults.readsAreSilent = true;
    await expect(readAll(store, stream)).rejects.toMatchObject({ code: 'store_silent', retryable: true });
  });

  // Each was cancelled after its one event, and a server closes a connection with too many calls.
  it('of the last event may be done as often as one likes', async () => {
    const { store } = await servedStore();
    const stream = freshStream();
    await store.append(stream, givenEvents(2), 'no-stream');
    for (let round = 0; round < 30; round += 1) {
      const reads = Array.from({ length: 50 }, () => readLast(store, stream));
      expect((await Promise.all(reads)).every((last) => last?.revision === 1)).toBe(true);
    }
  });
});
