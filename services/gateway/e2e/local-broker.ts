/** A Kafka broker private to a spec, which may stop it, unlike a broker from the environment. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ServerProgram, startServerProgram } from './server-program.ts';

export interface LocalBroker {
  /** Value of `KAFKA_BROKERS`, also while it is stopped. */
  brokers: string;
  /** Address with TLS and SASL, if enabled. */
  secured: SecuredAddress;
  /** Starts it unless it runs, also again on the same data; resolves when it serves. */
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

const program = fileURLToPath(new URL('../../../infra/kafka/main.ts', import.meta.url));
const brokersByDir = new Map<string, LocalBroker>();

/** A broker without data, not started yet. */
export function localBroker({ isSecured = false }: { isSecured?: boolean } = {}): LocalBroker {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-e2e-kafka-'));
  // Below those of free-ports.ts and of the system: while the broker is down, another process might take its port.
  const port = 9_200 + 2 * Math.floor(Math.random() * 1_400);
  const securedPort = port + 1;
  const secured = isSecured ? ['--secured-port', String(securedPort)] : [];
  let running: ServerProgram | undefined;
  const broker: LocalBroker = {
    brokers: `127.0.0.1:${port}`,
    secured: {
      brokers: `127.0.0.1:${securedPort}`,
      password: () => readFileSync(join(dataDir, 'sasl-password'), 'utf8'),
      caFile: join(dataDir, 'ca.pem'),
    },
    start: async () => {
      running ??= await startServerProgram(program, [
        ...['--data-dir', dataDir, '--port', String(port)],
        ...secured,
      ]);
    },
    stop: async (signal) => {
      const ending = running?.stop(signal === 'SIGTERM' ? signal : undefined);
      if (signal === 'SIGKILL')
        process.kill(Number(readFileSync(join(dataDir, 'kafka.pid'), 'utf8')), signal);
      await ending;
      running = undefined;
    },
  };
  brokersByDir.set(dataDir, broker);
  return broker;
}

/** Stops all brokers and removes their data; call it when a suite ends. */
export async function stopBrokers(): Promise<void> {
  for (const [dataDir, broker] of brokersByDir) {
    await broker.stop('SIGTERM');
    rmSync(dataDir, { recursive: true, force: true });
  }
  brokersByDir.clear();
}
