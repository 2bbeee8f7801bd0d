import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

// Vitest finds every export of a CommonJS package, plain Node only those that it can see in the text: the specs passed,
// and nothing that imported the library could start.
it('can be imported by plain Node', async () => {
  const program = "console.log(typeof (await import('./src/kafka/index.ts')).createKafkaMessageBus)";
  const cwd = `${import.meta.dirname}/../..`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], {
    cwd,
  });
  expect(stdout).toBe('function\n');
});
