/** For benches; separate from files that need vitest, whose memory they would measure. */

/** The count on a bench's command line, as `--payments <n>`. For other arguments, the process ends with a usage message. */
export function readCount({
  name = '--payments',
  usual,
  least = 1,
}: {
  name?: string;
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
