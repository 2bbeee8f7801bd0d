/** `npm run demo`: takes one payment through a running gateway and prints its history as it happens. */
import { readFileSync } from 'node:fs';
import { StartupError, systemClock } from '@tollgate/service-kit';
import { z } from 'zod';
import { createCustomer, payOnHostedPage } from '@tollgate/payment-service/customer';
import { callsOfDemoTeam, readRunningGateway, untilApproved } from './json-calls.ts';

const card = '4392963203551251';

const createdSchema = z.object({ token: z.string(), processingUrl: z.string() });
const eventSchema = z.object({ revision: z.int(), type: z.string(), at: z.string(), phase: z.string() });
const historySchema = z.object({ events: z.array(eventSchema) });
const paymentSchema = z.object({ payment: z.object({ status: z.string() }) });

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

async function demo(): Promise<void> {
  const quickstart = readRunningGateway(process.env);
  const { caFile } = quickstart;
  if (caFile === undefined)
    throw new StartupError(
      'no_sandbox',
      'This gateway calls real accounts; the demo pays in the sandbox only.',
    );
  const { call, close } = callsOfDemoTeam(quickstart);
  const body = {
    product: 'Tea for two',
    amount: 1250,
    currency: 'EUR',
    orderNumber: `demo-${systemClock.now()}`,
  };
  const created = await call(createdSchema, 'POST', '/api/v1/payments', body);
  say(`created   ${created.token}`);
  say(`page      ${created.processingUrl}`);
  const history = `/api/v1/payments/${created.token}/events`;
  let shown = 0;
  async function showNews(): Promise<string | undefined> {
    const { events } = await call(historySchema, 'GET', history);
    for (const event of events.slice(shown)) say(`  ${event.at}  ${event.type.padEnd(18)} ${event.phase}`);
    shown = events.length;
    return events.at(-1)?.phase;
  }
  await showNews();
  say(`paying    with ${card}`);
  const customer = createCustomer(readFileSync(caFile, 'utf8'));
  const paying = payOnHostedPage(customer, { processingUrl: created.processingUrl, card });
  await untilApproved(showNews);
  await paying;
  await customer.close();
  // The history is read from the events, the payment from a read model, which lags slightly.
  const path = `/api/v1/payments/${created.token}`;
  const readStatus = async () => (await call(paymentSchema, 'GET', path)).payment.status;
  await untilApproved(readStatus);
  await close();
  say('status    approved');
  say(`console   ${quickstart.gatewayUrl}/console/payments/${created.token}`);
}

const usage = `npm run demo

Takes one payment of 12.50 EUR through the gateway that runs on TOLLGATE_DATA_DIR, in its sandbox, and prints its history.
`;

try {
  const argv = process.argv.slice(2);
  if (argv.length === 0) await demo();
  else process.stdout.write(usage);
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
}
