/** A message for the user at the terminal; anything else that is thrown is a defect. */
export class CannotGoOn extends Error {}

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a command's work; a `CannotGoOn` becomes its sentence on standard error and exit code 1. Ctrl-C and its like abort
 * the signal and do nothing else, however often they come: the work ends when it has left nothing running.
 */
export async function runCommand(work: (signal: AbortSignal) => Promise<number>): Promise<void> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  for (const name of stopSignals) process.on(name, stop);
  try {
    process.exitCode = await work(stopping.signal);
  } catch (error) {
    if (!(error instanceof CannotGoOn)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  } finally {
    for (const name of stopSignals) process.off(name, stop);
  }
}

/** @throws CannotGoOn if a command was asked to stop */
export function requireGoingOn(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new CannotGoOn('Stopped.');
}
