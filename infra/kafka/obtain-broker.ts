/** A real Kafka broker from any available source: a named one, a container, or one on this machine. */
import { join } from 'node:path';
import { startServerProgram, type ProgramRun, type RunningServer } from '../run-with-server.ts';
import { requireGoingOn } from '../stop-with-sentence.ts';
import { brokerAt, localBroker } from './run-with-broker.ts';

const workspace = join(import.meta.dirname, '..', '..');
type Say = (line: string) => void;

/** The result's `KAFKA_BROKERS` contains its address. */
export const obtainBroker =
  (say: Say): ProgramRun['obtainServer'] =>
  async (folder, signal) => {
    const elsewhere = namedBroker(say) ?? (await containerBroker(say, signal));
    if (elsewhere !== undefined) return elsewhere;
    requireGoingOn(signal);
    say('No Docker engine answers: using a local Kafka with fresh data.');
    return localBroker(say)(folder, signal);
  };

function namedBroker(say: Say): RunningServer | undefined {
  const brokers = process.env['KAFKA_BROKERS'];
  if (brokers === undefined || brokers === '') return undefined;
  say(`Using the Kafka that KAFKA_BROKERS names: ${brokers}.`);
  return brokerAt(brokers, async () => {});
}

async function containerBroker(say: Say, signal: AbortSignal): Promise<RunningServer | undefined> {
  const program = join(workspace, 'libs', 'message-bus', 'src', 'testing', 'kafka-container.ts');
  const container = await startServerProgram([program], { signal });
  if (container === undefined) return undefined;
  say(`Using Kafka in a container: ${container.address}.`);
  return brokerAt(container.address, container.stop);
}
