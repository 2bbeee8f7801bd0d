/** The operator's command line of the Payment Service: `npm run payment-service -- --help`. */
import {
  StartupError,
  errorCode,
  readConfig,
  systemClock,
  systemIds,
  makeFolder,
} from '@tollgate/service-kit';
import { databaseFileOf, paymentServiceConfigSchema } from '../config.ts';
import { openBesideService } from '../storage/database.ts';
import { runOperatorCommand } from './command-line.ts';
import { createOperatorOperations } from './operations.ts';

function open() {
  const { dataDir } = readConfig(paymentServiceConfigSchema, process.env);
  makeDataDir(dataDir);
  const sandbox = openBesideService(databaseFileOf(dataDir, 'sandbox'));
  const production = openBesideService(databaseFileOf(dataDir, 'production'));
  return {
    tools: createOperatorOperations({
      databases: { sandbox, production },
      ids: systemIds,
      now: systemClock.now,
    }),
    close: () => {
      sandbox.close();
      production.close();
    },
  };
}

function makeDataDir(dataDir: string): void {
  try {
    makeFolder(dataDir);
  } catch (cause) {
    throw new StartupError(
      'data_dir_unusable',
      `TOLLGATE_DATA_DIR is ${dataDir}, a folder that cannot be made (${errorCode(cause) ?? 'unknown'}).`,
      { cause },
    );
  }
}

process.umask(0o077);
process.exitCode = await runOperatorCommand(process.argv.slice(2), {
  open,
  print: (text) => void process.stdout.write(text),
  complain: (text) => void process.stderr.write(text),
});
