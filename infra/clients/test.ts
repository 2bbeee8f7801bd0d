/** `npm run test:clients`: what others have written, against a gateway, its documents and its topics. */
import { join } from 'node:path';
import { obtainBroker } from '../kafka/obtain-broker.ts';
import { runWithBroker } from '../kafka/run-with-broker.ts';
import { runCommand } from '../stop-with-sentence.ts';
import { findTools } from './tools.ts';

const workspace = join(import.meta.dirname, '..', '..');
const vitest = join(workspace, 'node_modules', 'vitest', 'vitest.mjs');
const say = (line: string) => process.stdout.write(`${line}\n`);

await runCommand(async (signal) => {
  const { python, node, promtool, kcat, generators } = await findTools({ say, signal });
  const tools = {
    CLIENTS_IN_PYTHON: python,
    CLIENTS_IN_NODE: node,
    PROMTOOL: promtool,
    KCAT: kcat,
    OPENAPI_GENERATOR: generators.openApiGenerator,
    OAPI_CODEGEN: generators.oapiCodegen,
    OPENAPI_PYTHON_CLIENT: generators.pythonClient,
  };
  return runWithBroker({
    obtainServer: async (...given) => {
      const { env, stop } = await obtainBroker(say)(...given);
      return { env: { ...tools, ...env }, stop };
    },
    argv: [vitest, 'run', '--root', workspace, '--project', 'clients', ...process.argv.slice(2)],
    signal,
  });
});
