/**
 * Ports that must stay the same over a restart. They lie below the system's range for outgoing connections, one of
 * which could take a port between its choice and its use, or during a restart.
 */
import { createServer } from 'node:net';
import { type Ids, StartupError } from '@tollgate/service-kit';

const lowestPort = 12_000;
const highestPort = 32_000;
const triesMax = 200;

/**
 * Distinct ports of this machine on which no process listens.
 *
 * @param promised to processes that do not listen yet
 * @throws StartupError `no_free_port` if too few are free
 */
export async function freePorts(
  count: number,
  ids: Pick<Ids, 'fraction'>,
  promised: readonly number[] = [],
): Promise<readonly number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = await freePort(ids);
    if (!promised.includes(port)) ports.add(port);
  }
  return [...ports];
}

async function freePort({ fraction }: Pick<Ids, 'fraction'>): Promise<number> {
  for (let tryNumber = 0; tryNumber < triesMax; tryNumber += 1) {
    const port = lowestPort + Math.floor(fraction() * (highestPort - lowestPort));
    if (await isFree(port)) return port;
  }
  throw new StartupError('no_free_port', `No free port between ${lowestPort} and ${highestPort} was found.`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().on('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
