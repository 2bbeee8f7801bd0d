/** A Kafka broker private to a spec, which may stop it, unlike a broker from the environment. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export interface LocalBroker {
  /** Value of `KAFKA_BROKERS`, also while it is stopped. */
  brokers: string;
  /** Address with TLS and SASL, if enabled. */
  secured: SecuredAddress;
  /** Starts it, also again on the same data; resolves when it serves. */
  start(): Promise<void>;
  /** Resolves when its process has ended. */
  stop(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
}

interface SecuredAddress {
  brokers: string;
  /** Password of the user `tollgate`. */
  password(): string;
  caFile: string;
}

const brokerDirs = new Set<string>();

/** A broker without data, not started yet. */
export function localBroker({ isSecured = false }: { isSecured?: boolean } = {}): LocalBroker {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-e2e-kafka-'));
  brokerDirs.add(dataDir);
  // Below the ephemeral ports: while the broker is down, a connection might take its port.
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
  };
}

/** Stops all brokers and removes their data; call it when a suite ends. */
export async function stopBrokers(): Promise<void> {
  for (const dataDir of brokerDirs) {
    await runKafka('down', dataDir);
    rmSync(dataDir, { recursive: true, force: true });
  }
  brokerDirs.clear();
}

/** The commands of `npm run kafka:up` and `kafka:down`; down waits until the broker's process has ended. */
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
