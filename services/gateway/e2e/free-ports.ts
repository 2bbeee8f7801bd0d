/**
 * Ports for systems under test that have to be found where they were after a restart. They lie below those that the system
 * gives to outgoing connections: one of those could take a port between its choice and its use, or during a restart.
 */
import { createServer } from 'node:net';

const lowestPort = 12_000;
const highestPort = 32_000;
const triesMax = 200;

const names = ['GATEWAY_PORT', 'CALLBACK_PORT', 'PAYMENT_SERVICE_HTTPS_PORT', 'PAYMENT_SERVICE_HTTP_PORT'];

/** Ports by the environment variable that takes them. */
export async function freePorts(): Promise<Record<string, string>> {
  const ports = new Set<number>();
  while (ports.size < names.length) ports.add(await freePort());
  return Object.fromEntries([...ports].map((port, index) => [names[index], String(port)]));
}

async function freePort(): Promise<number> {
  for (let tryNumber = 0; tryNumber < triesMax; tryNumber += 1) {
    const port = lowestPort + Math.floor(Math.random() * (highestPort - lowestPort));
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port between ${lowestPort} and ${highestPort} was found`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().on('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
