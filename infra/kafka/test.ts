/** `npm run test:kafka`: the specs that need a real Kafka broker, wherever one can be had. */
import { join } from 'node:path';
import { startServerProgram, type RunningServer } from '../run-with-server.ts';
import { requireGoingOn, runCommand } from '../stop-with-sentence.ts';
import { brokerAt, localBroker, runWithBroker } from './run-with-broker.ts';

const workspace = join(import.meta.dirname, '..', '..');
const say = (line: string) => process.stdout.write(`${line}\n`);

function namedBroker(): RunningServer | undefined {
  const brokers = process.env['KAFKA_BROKERS'];
  if (brokers === undefined || brokers === '') return undefined;
  say(`Using the Kafka that KAFKA_BROKERS names: ${brokers}.`);
  return brokerAt(brokers, async () => {});
}

async function containerBroker(signal: AbortSignal): Promise<RunningServer | undefined> {
  const program = join(workspace, 'libs', 'message-bus', 'src', 'testing', 'kafka-container.ts');
  const container = await startServerProgram([program], { signal });
  if (container === undefined) return undefined;
  say(`Using Kafka in a container: ${container.address}.`);
  return brokerAt(container.address, container.stop);
}

await runCommand((signal) => {
  const vitest = join(workspace, 'node_modules', 'vitest', 'vitest.mjs');
  const options = ['--root', workspace, '--project', 'kafka'];
  return runWithBroker({
    obtainServer: async (...given) => {
      const elsewhere = namedBroker() ?? (await containerBroker(signal));
      if (elsewhere !== undefined) return elsewhere;
      requireGoingOn(signal);
      say('No Docker engine answers: using a local Kafka with fresh data.');
      return localBroker(say)(...given);
    },
    argv: [vitest, 'run', ...options, ...process.argv.slice(2)],
    signal,
  });
});
