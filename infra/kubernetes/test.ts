/** `npm run test:kubernetes`: builds the manifests, validates them, and compares them with the program that they run. */
import { join } from 'node:path';
import { runWithServer } from '../run-with-server.ts';
import { runCommand } from '../stop-with-sentence.ts';
import { findTools } from './tools.ts';

const workspace = join(import.meta.dirname, '..', '..');
const vitest = join(workspace, 'node_modules', 'vitest', 'vitest.mjs');
const say = (line: string) => process.stdout.write(`${line}\n`);

await runCommand(async (signal) => {
  const { kustomize, validator } = await findTools(say, signal);
  return runWithServer({
    // It needs none.
    obtainServer: async () => ({
      env: { KUSTOMIZE: kustomize, KUBERNETES_VALIDATOR: validator },
      stop: async () => {},
    }),
    argv: [vitest, 'run', '--root', workspace, '--project', 'kubernetes', ...process.argv.slice(2)],
    signal,
  });
});
