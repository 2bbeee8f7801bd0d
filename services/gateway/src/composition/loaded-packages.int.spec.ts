import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const program = `
import { registerHooks } from 'node:module';
const loaded = new Set();
registerHooks({ load: (url, context, next) => (loaded.add(url), next(url, context)) });
for (const module of process.argv.slice(1)) await import(module);
console.log(JSON.stringify([...loaded]));
process.exit();`;

/** For a foreign module its package, for ours its file from the workspace's root. */
const nameOf = (url: string): string =>
  /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? url.replace(/.*\/(?=(?:libs|services)\/)/, '');

async function loadedBy(module: string): Promise<string[]> {
  const argv = ['--input-type=module', '-e', program, join(import.meta.dirname, module)];
  const { stdout } = await promisify(execFile)(process.execPath, argv, { maxBuffer: 16 * 1024 * 1024 });
  return [...new Set((JSON.parse(stdout) as string[]).map(nameOf))];
}

// Packages that only some starts need, because loading them all makes a start half as long again.
const neededBySome = [
  ...['kafkajs', '@eventstore/db-client', '@grpc/grpc-js', 'selfsigned', '@fastify/reply-from'],
  'services/payment-service/src/payment-service.ts',
];

it('a start loads optional packages only once they are needed', async () => {
  const loaded = await loadedBy('gateway.ts');
  expect(loaded).toContain('fastify');
  expect(loaded).toContain('services/gateway/src/composition/sandbox.ts');
  expect(loaded.filter((name) => neededBySome.includes(name))).toEqual([]);
});

it('the thread of the followers loads nothing that only answers requests or calls others', async () => {
  const loaded = await loadedBy('followers/main.ts');
  expect(loaded).toContain('libs/modules/views/src/projector.ts');
  expect(loaded.filter((name) => [...neededBySome, 'fastify', 'undici'].includes(name))).toEqual([]);
});
