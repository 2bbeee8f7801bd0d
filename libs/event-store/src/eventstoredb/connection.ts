import { type Credentials, EventStoreDBClient } from '@eventstore/db-client';
import { type Secret, omitUndefined, systemClock, valueWithin } from '@tollgate/service-kit';
import type { ConnectionString } from './connection-string.ts';

export interface EventStoreDbConnection extends Omit<ConnectionString, 'tls' | 'tlsCaFile'> {
  /** False: nothing is encrypted, and no password is sent. `ca` is the PEM text of an authority to be trusted. */
  tls: false | { ca?: string };
  /** Of the search for the nodes of a cluster; only specs change them. @unit milliseconds */
  settings?: { maxDiscoverAttempts: number; discoveryInterval: number };
}

/** The client, and the options of its calls. */
export interface Link {
  client: EventStoreDBClient;
  /**
   * Passed with each append: with credentials the client makes a separate call, which has a deadline. Without them, all appends
   * share one stream without a deadline, whose failure rejects the appends of every client in the process.
   */
  appendCredentials: Credentials;
  close(): Promise<void>;
}

/** Without TLS the client never sends a user name. */
const noCredentials: Credentials = { username: 'none', password: 'none' };

/** Connects when the first call is made. */
export function openLink(connection: EventStoreDbConnection): Link {
  const { discovers, hosts, tls, credentials } = connection;
  const [endpoint] = hosts;
  if (endpoint === undefined) throw new RangeError('A connection needs a host.');
  const common = { ...connection.settings, ...omitUndefined({ connectionName: connection.connectionName }) };
  const channel =
    tls === false
      ? { insecure: true }
      : { insecure: false, ...(tls.ca === undefined ? {} : { rootCertificate: Buffer.from(tls.ca) }) };
  const user = credentials === undefined ? noCredentials : toCredentials(credentials);
  const client = discovers
    ? hosts.length === 1
      ? new EventStoreDBClient({ ...common, discover: endpoint }, channel, user)
      : new EventStoreDBClient({ ...common, endpoints: [...hosts] }, channel, user)
    : new EventStoreDBClient({ ...common, endpoint }, channel, user);
  letFailuresBe(client);
  return { client, appendCredentials: user, close: () => closeClient(client) };
}

/** The password stays in its Secret: `DEBUG=esdb:*` makes the client print its settings. */
function toCredentials({ username, password }: { username: string; password: Secret }): Credentials {
  return {
    username,
    get password() {
      return password.reveal();
    },
  };
}

/**
 * When a stream fails, the client checks whether its connection is still in use. That check rejects while a search for the
 * nodes is failing, is not awaited, and would end the process.
 */
function letFailuresBe(client: EventStoreDBClient): void {
  const handleError = client['handleError'];
  client['handleError'] = (...failure) => handleError(...failure).catch(() => undefined);
}

/** Streams that the client has lost never end for it, and silent nodes are searched for minutes. */
const eachEndWithinMs = 500;

/** Ends the streams, and then the connection, which the client itself would leave open. */
async function closeClient(client: EventStoreDBClient): Promise<void> {
  await valueWithin(systemClock, eachEndWithinMs, client.dispose());
  // A connection that is found later is closed then.
  const closing = client['getChannel']().then((channel) => channel.close());
  await valueWithin(
    systemClock,
    eachEndWithinMs,
    closing.catch(() => undefined),
  );
}
