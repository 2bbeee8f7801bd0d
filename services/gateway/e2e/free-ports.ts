/**
 * Ports that must be the same after a restart. They lie below the system's range for outgoing connections, one of which could
 * take a port between its choice and its use.
 */
import { createServer } from 'node:net';

const lowestPort = 12_000;
const highestPort = 32_000;

/** Distinct ports of this machine on which no process listens. */
export async function someFreePorts(count: number): Promise<readonly number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = lowestPort + Math.floor(Math.random() * (highestPort - lowestPort));
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().on('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

const names = [
  ...['GATEWAY_PORT', 'GATEWAY_METRICS_PORT', 'CALLBACK_PORT'],
  ...['PAYMENT_SERVICE_HTTPS_PORT', 'PAYMENT_SERVICE_HTTP_PORT'],
];

/** Ports of a system by environment variable. */
export async function freePorts(): Promise<Record<string, string>> {
  const ports = await someFreePorts(names.length);
  return Object.fromEntries(names.map((name, index) => [name, String(ports[index])]));
}
