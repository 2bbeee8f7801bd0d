/** `npm run test:kubernetes`: builds the manifests, validates them, and compares them with the program that they run. */
import { runVitest } from '../run-vitest.ts';
import { runCommand } from '../stop-with-sentence.ts';
import { findTools } from './tools.ts';

await runCommand(async (signal) => {
  const { kustomize, validator } = await findTools((line) => process.stdout.write(`${line}\n`), signal);
  const env = { KUSTOMIZE: kustomize, KUBERNETES_VALIDATOR: validator };
  return runVitest('kubernetes', process.argv.slice(2), { env, signal });
});
