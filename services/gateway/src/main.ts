/** `npm start`. The only place of the gateway that reads the environment, takes the system's clock and handles signals. */
import {
  StartupError,
  createLog,
  errorCode,
  readConfig,
  systemClock,
  systemIds,
} from '@tollgate/service-kit';
import { banner } from './banner.ts';
import { gatewayConfigSchema } from './config.ts';
import { type Gateway, startGateway } from './gateway.ts';

/** How long a stop may take, milliseconds: the longest call of the Payment Service and a little more. */
const stopBudgetMs = 15_000;

async function main(): Promise<void> {
  // Every file of ours is for its owner only, those that SQLite makes beside its own too.
  process.umask(0o077);
  const config = readConfig(gatewayConfigSchema, process.env);
  const logOf = (service: string) => createLog(service, config.logLevel);
  const log = logOf('gateway');
  process.on('uncaughtException', (error) => {
    // Whatever state this left behind in memory is not to be trusted; what is durable is. Starting again is safe.
    log.error({ error }, 'uncaught; the process ends');
    process.exit(70);
  });
  const starting = startGateway({
    ...{ config, clock: systemClock, ids: systemIds, logOf },
    env: process.env,
    pid: process.pid,
  });
  stopOnSignal(starting);
  const gateway = await starting;
  process.stdout.write(banner(gateway.quickstart, gateway.quickstartFile, process.cwd()));
}

/** A signal that comes during the start stops what has been started, as soon as it has. */
function stopOnSignal(starting: Promise<Gateway>): void {
  let stopping = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      // The second signal is an order.
      if (stopping) process.exit(130);
      stopping = true;
      process.stdout.write('\nStopping: finishing what is under way …\n');
      setTimeout(() => process.exit(75), stopBudgetMs).unref();
      void starting.then((gateway) => gateway.stop()).then(() => process.exit(0));
    });
}

try {
  await main();
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(errorCode(error) === 'config_invalid' ? 78 : 1);
}
