/** `npm run test:kafka`: the specs that need a real Kafka broker, from any available source. */
import { vitestArgv } from '../run-vitest.ts';
import { runWithServer } from '../run-with-server.ts';
import { runCommand } from '../stop-with-sentence.ts';
import { obtainBroker } from './obtain-broker.ts';

await runCommand((signal) =>
  runWithServer({ obtainServer: obtainBroker, argv: vitestArgv('kafka', process.argv.slice(2)), signal }),
);
