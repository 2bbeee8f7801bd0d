import {
  Server,
  ServerCredentials,
  status,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type sendUnaryData,
} from '@grpc/grpc-js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import gossipServices from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import features from '@eventstore/db-client/generated/serverfeatures_pb.js';
import featureServices from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js';
import streamServices from '@eventstore/db-client/generated/streams_grpc_pb.js';
import type { EventStore } from '../../event-store.ts';
import { createAppend } from './append-service.ts';
import { type ReceivedCall, type ServerFaults, noFaults } from './faults.ts';
import { createHiddenAppends } from './hidden-appends.ts';
import { createLogReader } from './log-reader.ts';
import { createRead } from './read-service.ts';
import { leadership, serviceError } from './service-errors.ts';
import { scavengeLog } from './shown-events.ts';

export interface TestServerOptions {
  /** The store behind the server; it is not closed with the server. */
  store: EventStore;
  /** @default 0: any free one */
  port?: number;
  /** PEM texts; without them nothing is encrypted. */
  tls?: { key: string; cert: string };
  /** The only accepted user; absent: anyone. */
  user?: { username: string; password: string };
  /** Called for each append, read and subscription. */
  onCall?: (call: ReceivedCall) => void;
}

/**
 * An EventStoreDB for tests, as far as our specs need one: the real protocol over real sockets. As strict as a real one: the
 * log shows superseded and
 * deleted events until it is scavenged, lagging live subscriptions are dropped, and an append is limited to 1 MiB.
 */
export interface TestServer {
  /** A connection string. */
  url: string;
  port: number;
  faults: ServerFaults;
  /** Ends all subscriptions without an error, as a server does that hands over to another. */
  endSubscriptions(): Promise<void>;
  /** Number of subscriptions so far. */
  subscriptionCount(): number;
  /** How many are there now. */
  openSubscriptionCount(): number;
  /** Deletes events that reads of streams do not show: in all of them, or in those for which `isScavenged` is true. */
  scavenge(isScavenged?: (stream: string) => boolean): Promise<void>;
  /** Cuts every connection and refuses new ones. */
  goDown(): void;
  /** Accepts connections again, at the same port. */
  comeBack(): Promise<void>;
  close(): Promise<void>;
}

export async function startTestServer(options: TestServerOptions): Promise<TestServer> {
  const { store, tls, onCall = () => undefined } = options;
  const faults = noFaults();
  const hidden = createHiddenAppends(store);
  const subscriptions = new Set<{ end: () => void; ended: Promise<void> }>();
  let subscriptionCount = 0;
  let server: Server | undefined;
  const log = createLogReader(store);
  let port = options.port ?? 0;

  const goDown = () => {
    server?.forceShutdown();
    server = undefined;
  };
  const reset = () => {
    goDown();
    void comeBack();
  };
  const onSubscription = (subscription: { end: () => void; ended: Promise<void> }) => {
    subscriptionCount += 1;
    subscriptions.add(subscription);
    const forget = () => void subscriptions.delete(subscription);
    subscription.ended.then(forget, forget);
  };

  async function comeBack(): Promise<void> {
    const started = new Server();
    const parts = { store, faults, hidden, log, reset, onSubscription, onCall };
    addServices(started, parts, () => port, options.user);
    server = started;
    port = await listen(started, port, tls);
  }

  await comeBack();
  return {
    url: `esdb://127.0.0.1:${port}?tls=${tls !== undefined}`,
    port,
    faults,
    subscriptionCount: () => subscriptionCount,
    openSubscriptionCount: () => subscriptions.size,
    endSubscriptions: async () => {
      for (const { end } of subscriptions) end();
      await Promise.allSettled([...subscriptions].map(({ ended }) => ended));
    },
    scavenge: (isScavenged = () => true) => scavengeLog({ store, log }, isScavenged),
    goDown,
    comeBack,
    close: async () => goDown(),
  };
}

type ServiceParts = Parameters<typeof createRead>[0] & Parameters<typeof createAppend>[0];
type UnaryCall = ServerUnaryCall<unknown, unknown>;

function addServices(
  server: Server,
  parts: ServiceParts,
  port: () => number,
  user: TestServerOptions['user'],
): void {
  const isLetIn = createDoor(user);
  const append = createAppend(parts);
  const read = createRead(parts);
  server.addService(streamServices.StreamsService, {
    append: (call: Parameters<typeof append>[0], respond: Parameters<typeof append>[1]) =>
      isLetIn(call.metadata.get('authorization')) ? append(call, respond) : respond(accessDenied()),
    // Supported, as by a real server, so that an append of ours that took this path would fail here.
    batchAppend: (call: ServerDuplexStream<unknown, unknown>) => call.emit('error', notNeeded()),
    read: (call: Parameters<typeof read>[0]) => {
      if (isLetIn(call.metadata.get('authorization'))) read(call);
      else call.emit('error', accessDenied());
    },
    delete: unimplemented,
    tombstone: unimplemented,
  });
  server.addService(featureServices.ServerFeaturesService, {
    getSupportedMethods: (_call: UnaryCall, respond: sendUnaryData<unknown>) =>
      respond(null, supportedMethods()),
  });
  server.addService(gossipServices.GossipService, {
    read: (_call: UnaryCall, respond: sendUnaryData<unknown>) =>
      respond(null, oneNode(port(), leadership(parts.faults) === undefined)),
  });
}

const notNeeded = () => serviceError(status.UNIMPLEMENTED, 'not needed');
const unimplemented = (_call: UnaryCall, respond: sendUnaryData<unknown>) => respond(notNeeded());

const accessDenied = () =>
  serviceError(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });

function createDoor(user: TestServerOptions['user']): (authorization: readonly unknown[]) => boolean {
  if (user === undefined) return () => true;
  const wanted = `Basic ${Buffer.from(`${user.username}:${user.password}`).toString('base64')}`;
  return ([given]) => given === wanted;
}

function supportedMethods() {
  const methods = ['append', 'batchappend', 'read'].map((name) => {
    const method = new features.SupportedMethod();
    method.setServiceName('event_store.client.streams.streams');
    method.setMethodName(name);
    return method;
  });
  const answer = new features.SupportedMethods();
  answer.setEventStoreServerVersion('24.10.0');
  answer.setMethodsList(methods);
  return answer;
}

function oneNode(port: number, isLeader: boolean) {
  const endPoint = new gossip.EndPoint();
  endPoint.setAddress('127.0.0.1');
  endPoint.setPort(port);
  const member = new gossip.MemberInfo();
  const { LEADER, UNKNOWN } = gossip.MemberInfo.VNodeState;
  member.setState(isLeader ? LEADER : UNKNOWN);
  member.setIsAlive(true);
  member.setHttpEndPoint(endPoint);
  const cluster = new gossip.ClusterInfo();
  cluster.setMembersList([member]);
  return cluster;
}

function listen(server: Server, port: number, tls: TestServerOptions['tls']): Promise<number> {
  const credentials =
    tls === undefined
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [
          { private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.cert) },
        ]);
  return new Promise((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
}
