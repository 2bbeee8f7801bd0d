import { createServer } from 'node:net';

/** Ports of this machine that nobody listens on now. They may be taken by others before they are used. */
export async function freePorts(count: number): Promise<readonly number[]> {
  const listening = await Promise.all(Array.from({ length: count }, listenAnywhere));
  await Promise.all(listening.map(({ close }) => close()));
  return listening.map(({ port }) => port);
}

async function listenAnywhere(): Promise<{ port: number; close: () => Promise<void> }> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { port, close: () => new Promise((resolve) => server.close(() => resolve())) };
}
