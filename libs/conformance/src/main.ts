import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { runCommand } from './command.ts';

/** Letters only: sixteen of them stand for the digits of a random number. */
const newName = (): string =>
  randomUUID()
    .replaceAll('-', '')
    .replaceAll(/[0-9]/g, (digit) => 'ghijklmnop'.charAt(Number(digit)));

process.exitCode = await runCommand(process.argv.slice(2), {
  clock: { now: () => Date.now(), sleep: (durationMs, signal) => delay(durationMs, undefined, { signal }) },
  newName,
  print: (text) => void process.stdout.write(text),
  complain: (text) => void process.stderr.write(text),
});
