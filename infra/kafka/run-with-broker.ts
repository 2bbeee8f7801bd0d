/** Runs a program that needs a broker, and leaves no broker running, including any that the program has started. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runWithServer, type ProgramRun, type RunningServer } from '../run-with-server.ts';
import { findBroker, stopBroker } from './broker-process.ts';
import { freePort, startBroker } from './start-broker.ts';

/** Resolves with the program's exit code, 1 if it was killed. @throws CannotContinue */
export const runWithBroker = (run: Omit<ProgramRun, 'stopOthersIn'>): Promise<number> =>
  // Brokers are not in a process group.
  runWithServer({ ...run, stopOthersIn: stopBrokersIn });

async function stopBrokersIn(folder: string): Promise<void> {
  for (const name of readdirSync(folder)) {
    const running = findBroker(join(folder, name));
    if (running !== undefined) await stopBroker(join(folder, name), running.pid);
  }
}

export const brokerAt = (brokers: string, stop: () => Promise<void>): RunningServer => ({
  env: { KAFKA_BROKERS: brokers },
  stop,
});

/** A broker on this machine, with fresh data. */
export const localBroker =
  (say: (line: string) => void): ProgramRun['obtainServer'] =>
  async (dataDir, signal) => {
    const { pid, port } = await startBroker({ dataDir, port: await freePort(), say, signal });
    return brokerAt(`127.0.0.1:${port}`, async () => {
      await stopBroker(dataDir, pid);
    });
  };
