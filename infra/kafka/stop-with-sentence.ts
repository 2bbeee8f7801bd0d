/** A sentence for the person at the terminal; anything else that is thrown is a defect of ours. */
export class CannotGoOn extends Error {}

/** Runs a command's work; a `CannotGoOn` becomes its sentence on standard error and exit code 1. */
export async function runCommand(work: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await work();
  } catch (error) {
    if (!(error instanceof CannotGoOn)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
