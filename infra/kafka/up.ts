/** `npm run kafka:up`: a real Kafka broker for development, without containers. */
import { cacheFolder, portDefault, readCommandLine, readPort } from './command-line.ts';
import { kafkaVersion } from './distribution.ts';
import { securedUser } from './secured-listener.ts';
import { startBroker } from './start-broker.ts';
import { runCommand } from '../stop-with-sentence.ts';

const usage = `npm run kafka:up [-- --data-dir <folder> --secured-port <port>]

Runs one node of Apache Kafka ${kafkaVersion} on the loopback address until npm run kafka:down. Needs Java 17 or later, and Maven
to download Kafka the first time. Does nothing if the broker is already running.
  --data-dir <folder>    folder of its records, its log (server.log) and its process id (${cacheFolder}/data)
  --secured-port <port>  another port, with TLS and SASL: user ${securedUser}; the password and the certificate are in
                         sasl-password and ca.pem of that folder
  KAFKA_PORT             the port (${portDefault})
`;

await runCommand(async (signal) => {
  const { wantsHelp, ...where } = readCommandLine(process.argv.slice(2));
  if (wantsHelp) {
    process.stdout.write(usage);
    return 0;
  }
  const say = (line: string) => process.stdout.write(`${line}\n`);
  const given = readPort(process.env['KAFKA_PORT']);
  const { pid, port, wasUp } = await startBroker({ ...where, port: given, say, signal });
  say(`Kafka ${wasUp ? 'is already up' : 'is up'}: KAFKA_BROKERS=127.0.0.1:${port} (process ${pid}).`);
  return 0;
});
