import { isIP, connect as connectPlain, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import type { Log, LogFields, Secret } from '@tollgate/service-kit';
import {
  Kafka,
  type LogEntry,
  type RetryOptions,
  type SASLOptions,
  type logCreator,
  logLevel,
} from 'kafkajs';

interface Address {
  host: string;
  port: number;
}

interface KafkaSasl {
  mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512';
  username: string;
  password: Secret;
}

export interface KafkaConnectionOptions {
  /** `host:port` of some brokers of the cluster; they name the others. */
  brokers: readonly string[];
  /** Names the process in the brokers' logs and quotas. */
  clientId: string;
  log: Log;
  /** TLS: true, or the options of Node's `tls.connect`, such as `ca`. */
  ssl?: boolean | ConnectionOptions;
  sasl?: KafkaSasl;
  /** Timeout of one request to a broker. @default 10,000 @unit milliseconds */
  requestTimeoutMs?: number;
  /** Translates a broker's advertised address, for example for a tunnel. @default unchanged */
  route?: (address: Address) => Address;
}

const requestTimeoutMsDefault = 10_000;
const connectTimeoutMs = 3_000;
const keepAliveMs = 60_000;

/** Written out in full: kafkajs has other defaults under NODE_ENV=test. The longer loops around it are our own. */
export const clientRetry: RetryOptions = {
  retries: 5,
  initialRetryTime: 100,
  multiplier: 2,
  factor: 0.2,
  maxRetryTime: 2_000,
};

/** A client with its own sockets, for one producer or consumer. */
export function createKafkaClient(options: KafkaConnectionOptions) {
  const { brokers, clientId, log, ssl, sasl, requestTimeoutMs = requestTimeoutMsDefault } = options;
  const sockets = new Set<OpenSocket>();
  let isSevered = false;
  const kafka = new Kafka({
    brokers: [...brokers],
    clientId,
    connectionTimeout: connectTimeoutMs,
    requestTimeout: requestTimeoutMs,
    enforceRequestTimeout: true,
    retry: clientRetry,
    logLevel: logLevel.INFO,
    logCreator: toLogCreator(log),
    ...(ssl === undefined ? {} : { ssl }),
    ...(sasl === undefined ? {} : { sasl: toSaslOptions(sasl) }),
    socketFactory: ({ host, port, ssl: tls, onConnect }) => {
      if (isSevered) throw new Error('This client is disconnected.');
      const opened = openSocket({ host, port }, { tls, onConnect, options });
      sockets.add(opened);
      opened.tcp.once('close', () => sockets.delete(opened));
      return opened.socket;
    },
  });
  return {
    kafka,
    /** Cuts every connection and allows no new one: nothing pending can be sent from now on. */
    sever: (): void => {
      isSevered = true;
      for (const { socket, tcp } of sockets) {
        // A reset, because a mere close would still deliver the buffers.
        tcp.resetAndDestroy();
        // It makes no event that kafkajs listens for, and requests would wait for their time limit.
        if (socket.listenerCount('error') > 0)
          socket.emit('error', new Error('This client is disconnected.'));
      }
    },
  };
}

interface OpenSocket {
  /** The socket for kafkajs. */
  socket: Socket;
  /** The underlying socket, the same one without TLS. */
  tcp: Socket;
}

interface Opening {
  tls: unknown;
  onConnect: () => void;
  options: KafkaConnectionOptions;
}

function openSocket(address: Address, { tls, onConnect, options: { ssl, route } }: Opening): OpenSocket {
  const target = route?.(address) ?? address;
  const tcp = connectPlain(target);
  tcp.setKeepAlive(true, keepAliveMs);
  if (!tls) {
    tcp.once('connect', onConnect);
    return { socket: tcp, tcp };
  }
  // The certificate names the broker, not the proxy or address in between.
  const name = isIP(address.host) === 0 ? { servername: address.host } : { host: address.host };
  const settings = typeof ssl === 'object' ? ssl : {};
  const socket = connectTls({ ...name, ...settings, socket: tcp }, onConnect);
  // Node reports a failed lower connection on the lower socket only.
  tcp.once('error', (error) => socket.destroy(error));
  return { socket, tcp };
}

/** The password stays in its Secret: kafkajs reads it when it authenticates. */
function toSaslOptions({ mechanism, username, password }: KafkaSasl): SASLOptions {
  return {
    mechanism,
    username,
    get password() {
      return password.reveal();
    },
  };
}

const text = 'the Kafka client reports';
const codePattern = /\b(?:E[A-Z]{4,}|[A-Z]+(?:_[A-Z]+)+)\b/;

/**
 * No caller reports these. All others are retries, by the dozen while a broker is unavailable; their callers log the outcome.
 */
const unreported = [
  'Offset out of range',
  'Failed to execute listener',
  'Consumer group received unsubscribed topics',
];

/**
 * Converts kafkajs log entries to ours. Its messages repeat foreign addresses, stacks and payloads, so only the place, the
 * error's code and the numbers are copied.
 */
export function toLogCreator(log: Log): logCreator {
  return () => (entry) => {
    const said = unreported.find((words) => entry.log.message.startsWith(words));
    if (said !== undefined && entry.level <= logLevel.WARN) log.warn(fieldsOf(entry), `${text}: ${said}`);
    else log.debug(fieldsOf(entry), text);
  };
}

function fieldsOf({ namespace, log: content }: LogEntry): LogFields {
  const { message, error, topic, partition, retryCount, retryTime } = content as Record<string, unknown>;
  const code = codePattern.exec([error, message].filter((each) => typeof each === 'string').join(' '))?.[0];
  return {
    operation: `kafkajs ${namespace}`,
    ...(code === undefined ? {} : { code }),
    ...(typeof topic === 'string' ? { topic } : {}),
    ...(typeof partition === 'number' ? { partition } : {}),
    ...(typeof retryCount === 'number' ? { attemptNumber: retryCount } : {}),
    ...(typeof retryTime === 'number' ? { waitMs: retryTime } : {}),
  };
}
