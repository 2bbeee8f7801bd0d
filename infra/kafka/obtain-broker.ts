/** A real Kafka broker from any available source: a named one, a container, or one on this machine. */
import { join } from 'node:path';
import { startServerProgram, type ProgramRun, type RunningServer } from '../run-with-server.ts';
import { CannotContinue, requireGoingOn } from '../stop-with-sentence.ts';

const say = (line: string) => process.stdout.write(`${line}\n`);

/** The result's `KAFKA_BROKERS` contains its address. */
export const obtainBroker: ProgramRun['obtainServer'] = async (folder, signal) => {
  const elsewhere = namedBroker() ?? (await containerBroker(signal));
  if (elsewhere !== undefined) return elsewhere;
  requireGoingOn(signal);
  say('No Docker engine answers: using a local Kafka with fresh data.');
  return localBroker(folder, signal);
};

const brokerAt = (brokers: string, stop: () => Promise<void>): RunningServer => ({
  env: { KAFKA_BROKERS: brokers },
  stop,
});

function namedBroker(): RunningServer | undefined {
  const brokers = process.env['KAFKA_BROKERS'];
  if (brokers === undefined || brokers === '') return undefined;
  say(`Using the Kafka that KAFKA_BROKERS names: ${brokers}.`);
  return brokerAt(brokers, async () => {});
}

async function containerBroker(signal: AbortSignal): Promise<RunningServer | undefined> {
  const program = join(import.meta.dirname, '..', 'containers', 'server.ts');
  const container = await startServerProgram([program, 'kafka'], { signal });
  if (container === undefined) return undefined;
  say(`Using Kafka in a container: ${container.address}.`);
  return brokerAt(container.address, container.stop);
}

/** A broker on this machine, with fresh data. @throws CannotContinue */
export const localBroker: ProgramRun['obtainServer'] = async (dataDir, signal) => {
  const argv = [join(import.meta.dirname, 'main.ts'), '--data-dir', dataDir, '--port', '0'];
  const broker = await startServerProgram(argv, { signal });
  requireGoingOn(signal);
  if (broker === undefined) throw new CannotContinue('Kafka could not be started.');
  return brokerAt(broker.address, broker.stop);
};
