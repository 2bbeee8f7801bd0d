/** For benches; apart from what needs vitest, whose memory they would measure. */

/**
 * The count that a bench is given on its command line, as `--payments <n>`. Given anything else, the process ends with a
 * sentence that says what it takes.
 */
export function readCount({
  name = '--payments',
  usual,
  least = 1,
}: {
  name?: string;
  /** Where none is given. */
  usual: number;
  least?: number;
}): number {
  const [given, value] = process.argv.slice(2);
  if (given === undefined) return usual;
  const count = Number(value);
  if (given === name && Number.isSafeInteger(count) && count >= least) return count;
  process.stderr.write(`The only argument is ${name} <n>, a whole number of at least ${least}.\n`);
  process.exit(2);
}
