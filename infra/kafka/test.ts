/** `npm run test:kafka`: the specs that need a real Kafka broker, from any available source. */
import { vitestArgv } from '../run-vitest.ts';
import { runCommand } from '../stop-with-sentence.ts';
import { obtainBroker } from './obtain-broker.ts';
import { runWithBroker } from './run-with-broker.ts';

await runCommand((signal) =>
  runWithBroker({
    obtainServer: obtainBroker((line) => process.stdout.write(`${line}\n`)),
    argv: vitestArgv('kafka', process.argv.slice(2)),
    signal,
  }),
);
