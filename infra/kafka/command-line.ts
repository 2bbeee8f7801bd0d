import { join, resolve } from 'node:path';
import { CannotGoOn } from './stop-with-sentence.ts';

const workspace = join(import.meta.dirname, '..', '..');
export const cacheFolder = join(workspace, '.cache', 'kafka');
export const portDefault = 9092;

export interface CommandLine {
  wantsHelp: boolean;
  dataDir: string;
}

/** Reads `--data-dir <folder>` and `--help`. @throws CannotGoOn for anything else. */
export function readCommandLine(argv: readonly string[]): CommandLine {
  let dataDir = join(cacheFolder, 'data');
  const rest = [...argv];
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    if (argument === '--help') return { wantsHelp: true, dataDir };
    const [name, attached] = splitAtEquals(argument);
    if (name !== '--data-dir')
      throw new CannotGoOn(`There is no argument ${JSON.stringify(argument)}; --help lists them.`);
    const folder = attached ?? rest.shift();
    if (folder === undefined || folder === '') throw new CannotGoOn('--data-dir needs a folder.');
    dataDir = resolve(folder);
  }
  return { wantsHelp: false, dataDir };
}

function splitAtEquals(argument: string): [string, string | undefined] {
  const at = argument.indexOf('=');
  return at < 0 ? [argument, undefined] : [argument.slice(0, at), argument.slice(at + 1)];
}

/** @throws CannotGoOn unless it is the number of a TCP port. */
export function readPort(text: string | undefined): number {
  if (text === undefined || text === '') return portDefault;
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new CannotGoOn(`KAFKA_PORT must be a port from 1 to 65535, and is ${JSON.stringify(text)}.`);
}
