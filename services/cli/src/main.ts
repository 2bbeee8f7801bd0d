/**
 * `npm run tollgate -- …`. The only part of the command line that reads the environment and uses the system's clock.
 */
import { createLog, errorCode, readConfig, systemClock, systemIds } from '@tollgate/service-kit';
import { dataDirConfigSchema, systemPerson } from '@tollgate/gateway/configuration';
import { putInPlace } from './backup/put-in-place.ts';
import { openBesideGateway } from './open-beside-gateway.ts';
import { runCommandLine } from './program.ts';

// SQLite's companion files must be private to the owner.
process.umask(0o077);

const stopping = new AbortController();

/** Only for commands that call it: for all others a signal ends the process at once. */
function stopSignal(): AbortSignal {
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
  // Waiting for records alone does not keep a process running.
  const keepingAlive = setInterval(() => undefined, 60_000);
  stopping.signal.addEventListener('abort', () => clearInterval(keepingAlive));
  return stopping.signal;
}

// The reader of the output may exit first, as `head` does.
process.stdout.on('error', (error) => {
  if (errorCode(error) !== 'EPIPE') throw error;
  stopping.abort();
});

const namedPerson = process.env['TOLLGATE_AS'] ?? '';
const asEnvironmentSays = namedPerson === '' ? [] : [`--as=${namedPerson}`];

process.exitCode = await runCommandLine([...asEnvironmentSays, ...process.argv.slice(2)], {
  open: async (backup) => {
    const { dataDir, ...configured } = readConfig(dataDirConfigSchema, process.env);
    // Standard output is reserved for results: programs read `tail --json` line by line.
    const parts = { clock: systemClock, ids: systemIds, log: createLog('cli', 'warn', process.stderr) };
    const restoring = backup === undefined ? {} : { endRestore: await putInPlace(backup, dataDir) };
    const { tools, close } = await openBesideGateway(dataDir, parts, configured);
    return { tools: { ...tools, ...restoring, stopSignal }, close };
  },
  person: systemPerson(),
  print: (text) => void process.stdout.write(text),
  complain: (text) => void process.stderr.write(text),
}).finally(() => stopping.abort());
