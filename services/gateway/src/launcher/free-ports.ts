/**
 * Ports for processes that have to be found where they were when they are started again. They lie below those that systems
 * give to outgoing connections, one of which could take the port meanwhile.
 */
import { createServer } from 'node:net';
import { type Ids, StartupError } from '@tollgate/service-kit';

const lowestPort = 12_000;
const portsInAll = 20_000;
const triesMax = 1_000;

/** Ports of this machine that nobody listens on now. @throws StartupError */
export async function freePorts(count: number, ids: Pick<Ids, 'hex'>): Promise<readonly number[]> {
  const ports = new Set<number>();
  for (let tried = 0; ports.size < count; tried += 1) {
    if (tried > triesMax) throw new StartupError('no_free_port', 'There are not enough free ports.');
    const port = lowestPort + (Number.parseInt(ids.hex(3), 16) % portsInAll);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
