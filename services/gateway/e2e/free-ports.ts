/** Ports for systems under test that must be the same after a restart. */
import { systemIds } from '@tollgate/service-kit';
import { freePorts as findFreePorts } from '../src/launcher/free-ports.ts';

const names = [
  ...['GATEWAY_PORT', 'GATEWAY_METRICS_PORT', 'CALLBACK_PORT'],
  ...['PAYMENT_SERVICE_HTTPS_PORT', 'PAYMENT_SERVICE_HTTP_PORT'],
];

/** Ports by environment variable. */
export async function freePorts(): Promise<Record<string, string>> {
  const ports = await findFreePorts(names.length, systemIds);
  return Object.fromEntries(names.map((name, index) => [name, String(ports[index])]));
}
