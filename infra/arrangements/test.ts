/** `npm run test:arrangements`: the end-to-end specs, in other arrangements of processes and stores than `npm test`. */
import { localBroker } from '../kafka/obtain-broker.ts';
import { runVitest, vitestArgv } from '../run-vitest.ts';
import { runWithServer } from '../run-with-server.ts';
import { CannotContinue, runCommand } from '../stop-with-sentence.ts';

/** Projects of vitest.config.ts; services/gateway/e2e/arrangement.ts describes each. */
const arrangements = ['services', 'one-process-eventstoredb', 'services-eventstoredb-kafka'];
const onKafka = 'services-eventstoredb-kafka';

const usage = `npm run test:arrangements [-- <arrangement> …] [<option of vitest> …]

Runs the end-to-end specs in the named arrangements, or in all:
  services                     a process for each service, on the embedded file
  one-process-eventstoredb     one process, on a server with EventStoreDB's protocol
  services-eventstoredb-kafka  a process for each service, on such a server and on Kafka: KAFKA_BROKERS if set,
                               otherwise a local broker
`;

await runCommand(async (signal) => {
  const argv = process.argv.slice(2);
  if (argv.includes('--help')) {
    process.stdout.write(usage);
    return 0;
  }
  const named = argv.filter((argument) => !argument.startsWith('-'));
  const unknown = named.find((name) => !arrangements.includes(name));
  if (unknown !== undefined)
    throw new CannotContinue(
      `Unknown arrangement ${JSON.stringify(unknown)}. The arrangements are ${arrangements.join(', ')}.`,
    );
  const [first = '', ...others] = named.length === 0 ? arrangements : named;
  const options = [
    ...others.flatMap((name) => ['--project', name]),
    ...argv.filter((argument) => argument.startsWith('-')),
  ];
  const needsBroker = [first, ...others].includes(onKafka) && (process.env['KAFKA_BROKERS'] ?? '') === '';
  if (!needsBroker) return runVitest(first, options, { env: {}, signal });
  return runWithServer({ obtainServer: localBroker, argv: vitestArgv(first, options), signal });
});
