import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const program = `
import { registerHooks } from 'node:module';
const loaded = new Set();
const nameOf = (url) => /.*\\/node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1];
registerHooks({ load: (url, context, next) => (loaded.add(nameOf(url)), next(url, context)) });
for (const module of process.argv.slice(1)) await import(module);
console.log(JSON.stringify([...loaded]));`;

async function packagesOf(...modules: string[]): Promise<string[]> {
  const files = modules.map((module) => join(import.meta.dirname, module));
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '-e',
    program,
    ...files,
  ]);
  return JSON.parse(stdout) as string[];
}

// A start loaded all of these whatever it needed, and took half as long again.
const clients = ['kafkajs', '@eventstore/db-client', '@grpc/grpc-js', 'selfsigned', '@fastify/reply-from'];

it('a start loads no client before it is known to be needed', async () => {
  const packages = await packagesOf('gateway.ts');
  expect(packages).toContain('fastify');
  expect(packages.filter((name) => clients.includes(name))).toEqual([]);
});

it('the thread of the followers loads nothing that only answers requests or calls others', async () => {
  const packages = await packagesOf(
    '../configuration/config.ts',
    'open-store.ts',
    'open-bus.ts',
    'followers/projector.ts',
    'followers/event-publisher.ts',
  );
  expect(packages).toContain('zod');
  expect(packages.filter((name) => [...clients, 'fastify', 'undici'].includes(name))).toEqual([]);
});
