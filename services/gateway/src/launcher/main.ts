/** `npm run services`: every service as its own process. Reads the environment and handles signals, as `main.ts` does. */
import { join } from 'node:path';
import { StartupError, createLog, readConfig, systemClock, systemIds } from '@tollgate/service-kit';
import { banner } from '../banner.ts';
import { gatewayConfigSchema } from '../configuration/config.ts';
import { startExitCode } from '../composition/start-failure.ts';
import { serviceNames } from '../configuration/service-names.ts';
import { unheededVariables } from '../configuration/unheeded-variables.ts';
import { launcherUsage, readLauncherArguments } from './command-line.ts';
import { type Launch, launch } from './launch.ts';
import { labelled } from './supervise.ts';

/** For all together; processes still running then are killed, without losing anything acknowledged. @unit milliseconds */
const stopBudgetMs = 25_000;

/** Compiled code is cached for the next process: it halves the cost of a start, and there are many. */
const compileCache = join(import.meta.dirname, '../../../../node_modules/.cache/node-compile-cache');

/** For the C library: threads would each grow a heap outside of V8's, and return little of it. */
const arenasMax = '2';

/** Standard output has the log and nothing else: a program may read it. */
const say = (line: string) =>
  void (line.startsWith('{') ? process.stdout : process.stderr).write(`${line}\n`);

async function main(): Promise<void> {
  process.umask(0o077);
  const given = readLauncherArguments(process.argv.slice(2));
  if (given === 'help') return void process.stdout.write(launcherUsage);
  const config = readConfig(gatewayConfigSchema, process.env);
  // Its own lines have a label, as those of the processes have.
  const destination = { write: (line: string) => say(labelled('launcher', line.trimEnd())) };
  const logOf = (service: string) => createLog(service, config.logLevel, destination);
  const log = logOf('launcher');
  for (const warning of unheededVariables(process.env, serviceNames)) log.warn({}, warning);
  const launched = launch({
    ...given,
    config,
    say,
    clock: systemClock,
    ids: systemIds,
    pid: process.pid,
    logOf,
    env: { NODE_COMPILE_CACHE: compileCache, MALLOC_ARENA_MAX: arenasMax, ...process.env },
  });
  const stopping = stopOnSignal(launched);
  try {
    const { quickstart, file, missing } = await launched.ready;
    process.stderr.write(banner(quickstart, { file, missing, folder: process.cwd() }));
  } catch (error) {
    if (stopping.isAsked()) return;
    await stopping.stop();
    throw error;
  }
}

function stopOnSignal(launched: Launch): { stop: () => Promise<void>; isAsked: () => boolean } {
  const insist = new AbortController();
  let isAsked = false;
  function stop(): Promise<void> {
    setTimeout(() => insist.abort(), stopBudgetMs).unref();
    return launched.stop(insist.signal);
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      // The second signal is an order.
      if (isAsked) return insist.abort();
      isAsked = true;
      say('\nStopping: each process finishes its work …');
      void stop().then(() => process.exit(0));
    });
  return { stop, isAsked: () => isAsked };
}

try {
  await main();
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(startExitCode(error));
}
