/** `npm run test:clients`: third-party programs against a gateway and its documents. */
import { runVitest } from '../run-vitest.ts';
import { runCommand } from '../stop-with-sentence.ts';
import { findTools } from './tools.ts';

await runCommand(async (signal) => {
  const say = (line: string) => process.stdout.write(`${line}\n`);
  const { python, node, promtool, generators } = await findTools({ say, signal });
  const env = {
    CLIENTS_IN_PYTHON: python,
    CLIENTS_IN_NODE: node,
    PROMTOOL: promtool,
    OPENAPI_GENERATOR: generators.openApiGenerator,
    OAPI_CODEGEN: generators.oapiCodegen,
    OPENAPI_PYTHON_CLIENT: generators.pythonClient,
  };
  return runVitest('clients', process.argv.slice(2), { env, signal });
});
