/** A Kafka broker of a spec's own, which it may stop, as one that somebody else named must not be. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export interface LocalBroker {
  /** What `KAFKA_BROKERS` is set to, also while it does not run. */
  brokers: string;
  /** Where it listens with TLS and SASL, where it does. */
  secured: SecuredAddress;
  /** Starts it, or starts it again on the same data; resolves when it serves. */
  start(): Promise<void>;
  /** Resolves when its process is gone. */
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  signal(name: 'SIGSTOP' | 'SIGCONT'): void;
}

interface SecuredAddress {
  brokers: string;
  /** Of the user `tollgate`. */
  password(): string;
  caFile: string;
}

const brokerDirs = new Set<string>();

/** A broker with no data yet, and not started yet. */
export function localBroker({ isSecured = false }: { isSecured?: boolean } = {}): LocalBroker {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-e2e-kafka-'));
  brokerDirs.add(dataDir);
  // Below those that the system gives to connections: while the broker is down, one of these might take its port.
  const port = 12_000 + 2 * Math.floor(Math.random() * 9_000);
  const securedPort = port + 1;
  const argv = isSecured ? ['--secured-port', String(securedPort)] : [];
  return {
    brokers: `127.0.0.1:${port}`,
    secured: {
      brokers: `127.0.0.1:${securedPort}`,
      password: () => readFileSync(join(dataDir, 'sasl-password'), 'utf8'),
      caFile: join(dataDir, 'ca.pem'),
    },
    start: () => runKafka('up', dataDir, { argv, env: { KAFKA_PORT: String(port) } }),
    stop: async (signal) => {
      if (signal === 'SIGKILL') process.kill(pidOfBroker(dataDir), signal);
      await runKafka('down', dataDir);
    },
    signal: (name) => void process.kill(pidOfBroker(dataDir), name),
  };
}

/** Stops all and removes their data; call it when a suite ends. */
export async function stopBrokers(): Promise<void> {
  for (const dataDir of brokerDirs) {
    await runKafka('down', dataDir);
    rmSync(dataDir, { recursive: true, force: true });
  }
  brokerDirs.clear();
}

/** What `npm run kafka:up` and `kafka:down` run; down waits until the broker's process is gone. */
async function runKafka(
  command: 'up' | 'down',
  dataDir: string,
  { argv: more = [], env = {} }: { argv?: string[]; env?: Record<string, string> } = {},
): Promise<void> {
  const program = fileURLToPath(new URL(`../../../infra/kafka/${command}.ts`, import.meta.url));
  const argv = [program, '--data-dir', dataDir, ...more];
  await promisify(execFile)(process.execPath, argv, { env: { ...process.env, ...env } });
}

function pidOfBroker(dataDir: string): number {
  const { pid } = JSON.parse(readFileSync(join(dataDir, 'kafka.pid'), 'utf8')) as { pid: number };
  return pid;
}
