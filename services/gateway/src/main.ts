/**
 * `npm start`, and every service as its own process. The only place of the gateway that reads the environment, uses
 * the system's clock and handles signals.
 */
import {
  StartupError,
  createLog,
  errorCode,
  readConfig,
  systemClock,
  systemIds,
  omitUndefined,
} from '@tollgate/service-kit';
import { banner } from './banner.ts';
import { gatewayConfigSchema } from './configuration/config.ts';
import { type Gateway, startGateway, stopBudgetMs } from './composition/gateway.ts';
import { crashed, startExitCode, temporaryFailure } from './composition/start-failure.ts';
import { readServiceNames, usage } from './configuration/service-names.ts';
import { systemPerson } from './configuration/system-person.ts';
import { unheededVariables } from './configuration/unheeded-variables.ts';

async function main(): Promise<void> {
  const services = readServiceNames(process.argv.slice(2));
  if (services === 'help') return void process.stdout.write(usage);
  // All our files are private to their owner, including those that SQLite creates.
  process.umask(0o077);
  const config = readConfig(gatewayConfigSchema, process.env);
  const logOf = (service: string) => createLog(service, config.logLevel);
  const log = logOf('gateway');
  for (const warning of unheededVariables(process.env, services)) log.warn({}, warning);
  process.on('uncaughtException', (error) => {
    // The state in memory is not trustworthy; the durable state is. A restart is safe.
    log.error({ error }, 'uncaught error; the process ends');
    process.exit(crashed);
  });
  goOnWithoutReaders();
  const own = { env: process.env, pid: process.pid, hasFollowerThread: true };
  const starting = startGateway({ config, clock: systemClock, ids: systemIds, logOf, ...own }, services);
  stopOnSignal(starting);
  const { url, metricsUrl, quickstart, signInLink, missing } = await starting;
  process.stdout.write(
    quickstart === undefined
      ? `${services.join(', ')}: ready at ${url}, metrics at ${metricsUrl}\n`
      : banner(quickstart.content, {
          ...quickstart,
          folder: process.cwd(),
          missing: await missing(),
          ...omitUndefined({ signInLink: signInLink(systemPerson()) }),
        }),
  );
}

/** The reader of the output may have exited: work in progress is finished nevertheless. */
function goOnWithoutReaders(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on('error', (error) => {
      if (errorCode(error) !== 'EPIPE') throw error;
    });
}

/** A signal during the start stops the started parts as soon as possible. */
function stopOnSignal(starting: Promise<Gateway>): void {
  let stopping = false;
  function stop(): void {
    stopping = true;
    process.stdout.write('\nStopping: finishing running work …\n');
    setTimeout(() => process.exit(temporaryFailure), stopBudgetMs).unref();
    void starting
      .then((gateway) => gateway.stop())
      .then(() => process.stdout.write('Stopped. Nothing was lost.\n', () => process.exit()));
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      // The second signal is an order.
      if (stopping) process.exit(130);
      stop();
    });
}

try {
  await main();
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(startExitCode(error));
}
