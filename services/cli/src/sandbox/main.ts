/** `npm run sandbox -- …`: controls customer, operator, faults and time of the sandbox of a running gateway. */
import { readFileSync } from 'node:fs';
import { StartupError, errorCode, readConfig, systemIds } from '@tollgate/service-kit';
import { dataDirConfigSchema, openDataDirectory } from '@tollgate/gateway/configuration';
import { createGatewayCalls } from '../gateway-calls.ts';
import { createSandboxCalls } from './sandbox-calls.ts';
import { runSandboxCommand } from './sandbox-commands.ts';

function open() {
  const { dataDir } = readConfig(dataDirConfigSchema, process.env);
  const quickstart = openDataDirectory(dataDir).readQuickstart();
  if (quickstart === undefined)
    throw new StartupError(
      'not_running',
      `No gateway runs on ${dataDir}. Run npm start in another terminal first.`,
    );
  const { paymentServiceUrl: url, paymentServiceKey: key, caFile } = quickstart;
  if (url === undefined || key === undefined || caFile === undefined)
    throw new StartupError('no_sandbox', 'This gateway calls real accounts and has no sandbox.');
  const calls = createSandboxCalls({ url, key, ca: readFileSync(caFile, 'utf8') });
  const gateway = () => createGatewayCalls(quickstart);
  const newOrderNumber = () => `fund-${systemIds.hex(6)}`;
  return { tools: { ...calls, gateway, newOrderNumber }, close: () => calls.close() };
}

// The reader of the output may exit first, as `head` does.
process.stdout.on('error', (error) => {
  if (errorCode(error) !== 'EPIPE') throw error;
});

process.exitCode = await runSandboxCommand(process.argv.slice(2), {
  open,
  print: (text) => void process.stdout.write(text),
  complain: (text) => void process.stderr.write(text),
});
