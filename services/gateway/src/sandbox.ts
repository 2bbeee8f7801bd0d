import { readFileSync } from 'node:fs';
import { type PaymentServiceClient, createPaymentServiceClient } from '@tollgate/payment-api';
import { createPaymentService } from '@tollgate/payment-service';
import { Secret } from '@tollgate/service-kit';
import type { DataDirectory } from './data-directory.ts';
import type { GatewayDependencies, OnStop } from './gateway.ts';

/** The Payment Service that this gateway calls, and how. */
export interface Provider {
  client: PaymentServiceClient;
  httpsUrl: string;
  httpUrl: string;
  caFile: string;
  key: Secret;
}

/** Starts the Payment Service of the specification as a sandbox in this process; its key stays the same over restarts. */
export async function startSandbox(
  { config, clock, ids, logOf }: GatewayDependencies,
  directory: DataDirectory,
  onStop: OnStop,
): Promise<Provider> {
  const sandboxConfig = { ...config.paymentService, dataDir: directory.path };
  const service = createPaymentService({ config: sandboxConfig, clock, ids, log: logOf('payment-service') });
  onStop(() => service.stop());
  const addresses = await service.start();
  const known = directory.readQuickstart()?.paymentServiceKey;
  const registration = known === undefined ? { name: 'demo' } : { name: 'demo', key: new Secret(known) };
  const { key } = await service.ensureMerchant(registration);
  const client = createPaymentServiceClient({
    baseUrl: addresses.httpsUrl,
    privateKey: key,
    ca: readFileSync(addresses.caFile, 'utf8'),
    deadlineMs: config.times.callDeadlineMs,
    clock,
  });
  onStop(() => client.close());
  return { client, key, ...addresses };
}
