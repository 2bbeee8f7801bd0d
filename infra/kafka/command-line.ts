import { join, resolve } from 'node:path';
import { CannotContinue } from '../stop-with-sentence.ts';

const workspace = join(import.meta.dirname, '..', '..');
export const cacheFolder = join(workspace, '.cache', 'kafka');
export const portDefault = 9092;

export interface CommandLine {
  wantsHelp: boolean;
  dataDir: string;
  /** Port of a listener with TLS and SASL. */
  securedPort?: number;
}

/** Reads `--data-dir <folder>`, `--secured-port <port>` and `--help`. @throws CannotContinue for anything else. */
export function readCommandLine(argv: readonly string[]): CommandLine {
  let dataDir = join(cacheFolder, 'data');
  let securedPort: number | undefined;
  const rest = [...argv];
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    if (argument === '--help') return { wantsHelp: true, dataDir };
    const [name, attached] = splitAtEquals(argument);
    if (name !== '--data-dir' && name !== '--secured-port')
      throw new CannotContinue(`Unknown argument ${JSON.stringify(argument)}. See --help.`);
    const value = attached ?? rest.shift();
    if (value === undefined || value === '')
      throw new CannotContinue(`${name} needs a ${name === '--data-dir' ? 'folder' : 'port'}.`);
    if (name === '--data-dir') dataDir = resolve(value);
    else securedPort = toPort(name, value);
  }
  return { wantsHelp: false, dataDir, ...(securedPort === undefined ? {} : { securedPort }) };
}

function splitAtEquals(argument: string): [string, string | undefined] {
  const at = argument.indexOf('=');
  return at < 0 ? [argument, undefined] : [argument.slice(0, at), argument.slice(at + 1)];
}

/** @throws CannotContinue unless it is the number of a TCP port. */
export function readPort(text: string | undefined): number {
  return text === undefined || text === '' ? portDefault : toPort('KAFKA_PORT', text);
}

function toPort(name: string, text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw new CannotContinue(`${name} must be a port from 1 to 65535, and is ${JSON.stringify(text)}.`);
}
