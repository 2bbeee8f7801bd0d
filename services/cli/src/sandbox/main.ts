/** `npm run sandbox -- …`: controls customer, operator, faults and time of the sandbox of a running gateway. */
import { readFileSync } from 'node:fs';
import { StartupError, errorCode, systemIds } from '@tollgate/service-kit';
import { callsOfDemoTeam, createJsonCalls, readRunningGateway } from '../json-calls.ts';
import { runSandboxCommand } from './sandbox-commands.ts';

function open() {
  const quickstart = readRunningGateway(process.env);
  const { paymentServiceUrl: url, paymentServiceKey: key, caFile } = quickstart;
  if (url === undefined || key === undefined || caFile === undefined)
    throw new StartupError('no_sandbox', 'This gateway calls real accounts and has no sandbox.');
  const { call, close } = createJsonCalls({ name: 'sandbox', url, key, ca: readFileSync(caFile, 'utf8') });
  const gateway = () => callsOfDemoTeam(quickstart);
  const newOrderNumber = () => `fund-${systemIds.hex(6)}`;
  return { tools: { call, gateway, newOrderNumber }, close };
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
