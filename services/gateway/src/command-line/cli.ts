/** `npm run tollgate -- …`. The only place of the command line that reads the environment and takes the system's clock. */
import { createLog, errorCode, readConfig, systemClock, systemIds } from '@tollgate/service-kit';
import { openBesideGateway } from './open-beside-gateway.ts';
import { parsePerson, systemPerson } from './person.ts';
import { runCommandLine } from './program.ts';
import { dataDirConfigSchema } from '../configuration/config.ts';

// Files that SQLite makes beside its own are for their owner only.
process.umask(0o077);

const stopping = new AbortController();

/** Only for commands that call it: a signal ends all others at once. */
function stopSignal(): AbortSignal {
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort());
  // Waiting for records alone keeps no process running.
  const keepingAlive = setInterval(() => undefined, 60_000);
  stopping.signal.addEventListener('abort', () => clearInterval(keepingAlive));
  return stopping.signal;
}

// The reader of what we print may end first, as `head` does.
process.stdout.on('error', (error) => {
  if (errorCode(error) !== 'EPIPE') throw error;
  stopping.abort();
});

function defaultPerson(): string {
  const given = process.env['TOLLGATE_AS'] ?? '';
  return given === '' ? systemPerson() : parsePerson(given);
}

process.exitCode = await runCommandLine(process.argv.slice(2), {
  open: async () => {
    const { dataDir, ...configured } = readConfig(dataDirConfigSchema, process.env);
    // What a command prints is for programs, too: `tail --json` is read line by line.
    const parts = { clock: systemClock, ids: systemIds, log: createLog('cli', 'warn', process.stderr) };
    const { tools, close } = await openBesideGateway(dataDir, parts, {
      ...configured,
      env: process.env,
    });
    return { tools: { ...tools, stopSignal }, close };
  },
  person: defaultPerson(),
  print: (text) => void process.stdout.write(text),
  complain: (text) => void process.stderr.write(text),
  hasColours: process.stdout.isTTY && process.env['NO_COLOR'] === undefined,
}).finally(() => stopping.abort());
