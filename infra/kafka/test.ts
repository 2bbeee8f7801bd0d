/** `npm run test:kafka`: the specs that need a real Kafka broker, wherever one can be had. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { endOf, localBroker, runWithBroker, type RunningBroker } from './run-with-broker.ts';
import { runCommand } from './stop-with-sentence.ts';

const workspace = join(import.meta.dirname, '..', '..');
const say = (line: string) => process.stdout.write(`${line}\n`);

function namedBroker(): RunningBroker | undefined {
  const brokers = process.env['KAFKA_BROKERS'];
  if (brokers === undefined || brokers === '') return undefined;
  say(`Using the Kafka that KAFKA_BROKERS names: ${brokers}.`);
  return { brokers, stop: async () => {} };
}

/**
 * The container lives in a process of its own, which ends it when its standard input is closed, and which a terminal's
 * Ctrl-C does not reach: it would end before the container.
 */
async function containerBroker(): Promise<RunningBroker | undefined> {
  const program = join(workspace, 'libs', 'message-bus', 'src', 'testing', 'kafka-container.ts');
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'], detached: true });
  const ended = endOf(child);
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('no ')) break;
    say(`Using Kafka in a container: ${line}.`);
    return {
      brokers: line,
      stop: async () => {
        child.stdin.end();
        await ended;
      },
    };
  }
  child.stdin.end();
  await ended;
  return undefined;
}

await runCommand((signal) => {
  const vitest = join(workspace, 'node_modules', 'vitest', 'vitest.mjs');
  const options = ['--root', workspace, '--config', join(workspace, 'vitest.kafka.config.ts')];
  return runWithBroker({
    obtainBroker: async (...given) => {
      const elsewhere = namedBroker() ?? (await containerBroker());
      if (elsewhere !== undefined) return elsewhere;
      say('No Docker engine answers: using a local Kafka with fresh data.');
      return localBroker(say)(...given);
    },
    argv: [vitest, 'run', ...options, ...process.argv.slice(2)],
    signal,
  });
});
