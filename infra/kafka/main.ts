/** `npm run kafka`: a real Kafka broker for development, without containers. */
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CannotContinue, runCommand } from '../stop-with-sentence.ts';
import { cacheFolder, kafkaVersion } from './distribution.ts';
import { securedUser } from './secured-listener.ts';
import { freePort, startBroker } from './start-broker.ts';

const dataDirDefault = join(cacheFolder, 'data');

const usage = `npm run kafka [-- --port <port> --data-dir <folder> --secured-port <port>]

Runs one node of Apache Kafka ${kafkaVersion} on the loopback address until Ctrl-C, or until its standard input ends. Needs Java 17 or
later, and Maven to download Kafka the first time. Its records stay: delete the folder to delete them.
  --port <port>          the port (9092); 0 takes a free one
  --data-dir <folder>    folder of its records, and of its log, server.log (${dataDirDefault})
  --secured-port <port>  another port, with TLS and SASL: user ${securedUser}; the password and the certificate are in
                         sasl-password and ca.pem of that folder
`;

/** @throws CannotContinue for an argument that is unknown or has no value */
function readArguments() {
  try {
    return parseArgs({
      options: {
        help: { type: 'boolean', default: false },
        port: { type: 'string', default: '9092' },
        'data-dir': { type: 'string', default: dataDirDefault },
        'secured-port': { type: 'string' },
      },
    }).values;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new CannotContinue(`${error.message.split('\n')[0] ?? ''} See --help.`);
  }
}

/** @throws CannotContinue unless it is the number of a TCP port */
function portOf(option: string, text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new CannotContinue(`${option} must be a port from 1 to 65535, and is ${JSON.stringify(text)}.`);
}

await runCommand(async (signal) => {
  const { help, port: portText, 'data-dir': dataDir, 'secured-port': securedText } = readArguments();
  if (help) {
    process.stdout.write(usage);
    return 0;
  }
  const port = portText === '0' ? await freePort() : portOf('--port', portText);
  const say = (line: string) => process.stderr.write(`${line}\n`);
  const options = { dataDir: resolve(dataDir), port, say, signal };
  const secured = securedText === undefined ? {} : { securedPort: portOf('--secured-port', securedText) };
  const broker = await startBroker({ ...options, ...secured });
  process.stdout.write(`127.0.0.1:${port}\n`);
  const stop = () => void broker.stop();
  signal.addEventListener('abort', stop, { once: true });
  // In a terminal it would take what is typed.
  if (!process.stdin.isTTY) process.stdin.resume().once('end', stop);
  await broker.ended;
  process.stdin.destroy();
  return 0;
});
