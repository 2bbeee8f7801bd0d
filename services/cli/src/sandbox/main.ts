/** `npm run sandbox -- …` and `npm run demo`: control customer, operator, faults and time of the sandbox of a running gateway. */
import { readFileSync } from 'node:fs';
import { createCustomer, payOnHostedPage } from '@tollgate/payment-service/customer';
import { StartupError, errorCode, systemIds } from '@tollgate/service-kit';
import { callsOfDemoTeam, createJsonCalls, readRunningGateway } from '../json-calls.ts';
import { runSandboxCommand } from './sandbox-commands.ts';

function open() {
  const quickstart = readRunningGateway(process.env);
  const { paymentServiceUrl: url, paymentServiceKey: key, caFile } = quickstart;
  if (url === undefined || key === undefined || caFile === undefined)
    throw new StartupError('no_sandbox', 'This gateway calls real accounts and has no sandbox.');
  const ca = readFileSync(caFile, 'utf8');
  const { call, close } = createJsonCalls({ name: 'sandbox', url, key, ca });
  const gateway = () => callsOfDemoTeam(quickstart);
  const newOrderNumber = () => `sandbox-${systemIds.hex(6)}`;
  const payOnPage = async (processingUrl: string) => {
    const customer = createCustomer(ca);
    await payOnHostedPage(customer, { processingUrl, card: '4392963203551251' }).finally(customer.close);
  };
  const consoleUrl = `${quickstart.gatewayUrl}/console`;
  return { tools: { call, gateway, newOrderNumber, payOnPage, consoleUrl }, close };
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
