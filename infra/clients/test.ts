/** `npm run test:clients`: what others have written, against a gateway and its documents. */
import { join } from 'node:path';
import { runWithServer } from '../run-with-server.ts';
import { runCommand } from '../stop-with-sentence.ts';
import { findTools } from './tools.ts';

const workspace = join(import.meta.dirname, '..', '..');
const vitest = join(workspace, 'node_modules', 'vitest', 'vitest.mjs');
const say = (line: string) => process.stdout.write(`${line}\n`);

await runCommand(async (signal) => {
  const { python, node, promtool } = await findTools({ say, signal });
  const env = { CLIENTS_IN_PYTHON: python, CLIENTS_IN_NODE: node, PROMTOOL: promtool };
  return runWithServer({
    obtainServer: async () => ({ env, stop: async () => {} }),
    argv: [vitest, 'run', '--root', workspace, '--project', 'clients', ...process.argv.slice(2)],
    signal,
  });
});
