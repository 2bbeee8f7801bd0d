/** `npm run test:kafka`: the specs that need a real Kafka broker, wherever one can be had. */
import { join } from 'node:path';
import { runCommand } from '../stop-with-sentence.ts';
import { obtainBroker } from './obtain-broker.ts';
import { runWithBroker } from './run-with-broker.ts';

const workspace = join(import.meta.dirname, '..', '..');
const say = (line: string) => process.stdout.write(`${line}\n`);

await runCommand((signal) => {
  const vitest = join(workspace, 'node_modules', 'vitest', 'vitest.mjs');
  const options = ['--root', workspace, '--project', 'kafka'];
  return runWithBroker({
    obtainServer: obtainBroker(say),
    argv: [vitest, 'run', ...options, ...process.argv.slice(2)],
    signal,
  });
});
