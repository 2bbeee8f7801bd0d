/** A server program ends when it is asked to, even during its start; a failure leaves no folder behind. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { runWithServer, startServerProgram } from './run-with-server.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'run-with-server-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
});

const never = new AbortController().signal;

/** A server that records how it was stopped. */
function program(beginning: string): string[] {
  const file = join(folder, 'server.mjs');
  writeFileSync(
    file,
    `import { writeFileSync } from 'node:fs';
     ${beginning}
     process.stdin.resume().once('end', () => {
       writeFileSync(${JSON.stringify(join(folder, 'ended'))}, '');
       process.exit();
     });`,
  );
  return [file];
}

it('returns the address that a program prints, and stops it through its standard input', async () => {
  const server = await startServerProgram(program("console.log('there:1');"), { signal: never });
  expect(server?.address).toBe('there:1');
  await server?.stop();
  expect(readdirSync(folder)).toContain('ended');
});

it('returns nothing if the program has no address', async () => {
  expect(await startServerProgram(program("console.log('no engine');"), { signal: never })).toBeUndefined();
  expect(readdirSync(folder)).toContain('ended');
});

it('stops a program that is still starting', async () => {
  const stopping = new AbortController();
  const starting = startServerProgram(program(''), { signal: stopping.signal });
  stopping.abort();
  expect(await starting).toBeUndefined();
  expect(readdirSync(folder)).toContain('ended');
});

it('starts nothing if it was already asked to stop', async () => {
  const argv = program("writeFileSync(new URL('begun', import.meta.url), '');");
  expect(await startServerProgram(argv, { signal: AbortSignal.abort() })).toBeUndefined();
  expect(readdirSync(folder)).toEqual(['server.mjs']);
});

it('a server that cannot be stopped leaves no folder behind', async () => {
  let left = '';
  const obtainServer = async (below: string) => {
    left = dirname(below);
    return { env: {}, stop: () => Promise.reject(new Error('it does not end')) };
  };
  await expect(runWithServer({ obtainServer, argv: ['-e', ''], signal: never })).rejects.toThrow(
    'it does not end',
  );
  expect(() => readdirSync(left)).toThrow('ENOENT');
});
