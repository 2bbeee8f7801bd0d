import { readFileSync } from 'node:fs';
import { createPaymentService } from '@tollgate/payment-service';
import { Secret } from '@tollgate/service-kit';
import type { DataDirectory } from '../configuration/data-directory.ts';
import type { GatewayDependencies } from '../configuration/gateway-dependencies.ts';

/** The Payment Service that runs in this process, and how it is reached. */
export interface Sandbox {
  httpsUrl: string;
  httpUrl: string;
  caFile: string;
  /** PEM. */
  ca: string;
  key: Secret;
}

/** Starts the Payment Service of the specification as a sandbox in this process; its key stays the same over restarts. */
export async function startSandbox(
  { config, clock, ids, logOf }: GatewayDependencies,
  directory: DataDirectory,
  stops: AsyncDisposableStack,
): Promise<Sandbox> {
  const sandboxConfig = { ...config.paymentService, dataDir: directory.path };
  const service = createPaymentService({ config: sandboxConfig, clock, ids, log: logOf('payment-service') });
  stops.defer(() => service.stop());
  const addresses = await service.start();
  const known = directory.readQuickstart()?.paymentServiceKey;
  const registration = known === undefined ? { name: 'demo' } : { name: 'demo', key: new Secret(known) };
  const { key } = await service.ensureMerchant(registration);
  return { ...addresses, ca: readFileSync(addresses.caFile, 'utf8'), key };
}
