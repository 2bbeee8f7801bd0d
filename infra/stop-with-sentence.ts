/** An error message for the user at the terminal; any other exception is a defect. */
export class CannotContinue extends Error {}

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Runs a command's work. A `CannotContinue` is printed as one sentence on standard error, with exit code 1. Ctrl-C and
 * similar signals only abort the signal, however often they occur: the work ends when nothing is left running.
 */
export async function runCommand(work: (signal: AbortSignal) => Promise<number>): Promise<void> {
  const stopping = new AbortController();
  const stop = () => stopping.abort();
  for (const name of stopSignals) process.on(name, stop);
  try {
    process.exitCode = await work(stopping.signal);
  } catch (error) {
    if (!(error instanceof CannotContinue)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  } finally {
    for (const name of stopSignals) process.off(name, stop);
  }
}

/** @throws CannotContinue if a command was asked to stop */
export function requireGoingOn(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw new CannotContinue('Stopped.');
}
