/** `npm run tollgate -- …`. The only place of the command line that reads the environment and takes the system's clock. */
import { inspect } from 'node:util';
import { createLog, errorCode, readConfig, systemClock, systemIds } from '@tollgate/service-kit';
import { openBesideGateway } from './open-beside-gateway.ts';
import { runCommandLine } from './program.ts';
import { dataDirConfigSchema } from '../configuration/config.ts';

// Files that SQLite makes beside its own are for their owner only, whoever opens it first.
process.umask(0o077);

const stopping = new AbortController();

/** Only for those who ask: all other commands are ended by a signal at once, as everything is. */
function stopSignal(): AbortSignal {
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
  // Waiting for records alone keeps no process running.
  const keepingAlive = setInterval(() => undefined, 60_000);
  stopping.signal.addEventListener('abort', () => clearInterval(keepingAlive));
  return stopping.signal;
}

// Whoever reads what we print may have enough of it, `head` for example.
process.stdout.on('error', (error) => {
  if (errorCode(error) !== 'EPIPE') throw error;
  stopping.abort();
});

runCommandLine(process.argv.slice(2), {
  open: async () => {
    const { dataDir, ...configured } = readConfig(dataDirConfigSchema, process.env);
    const parts = { clock: systemClock, ids: systemIds, log: createLog('cli', 'warn') };
    const { tools, close } = await openBesideGateway(dataDir, parts, configured);
    return { tools: { ...tools, stopSignal }, close };
  },
  print: (text) => void process.stdout.write(text),
  complain: (text) => void process.stderr.write(text),
  hasColours: process.stdout.isTTY && process.env['NO_COLOR'] === undefined,
})
  .finally(() => stopping.abort())
  .then(
    (exitCode) => {
      process.exitCode = exitCode;
    },
    (error: unknown) => {
      process.stderr.write(`${inspect(error)}\n`);
      process.exitCode = 1;
    },
  );
