/** One callback address for several gateways, like a load balancer: any running gateway receives the callback. */
import { type AddressInfo } from 'node:net';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { request } from 'undici';

export interface CallbackAddress {
  url: string;
  close(): void;
}

/** @param targets callback addresses of the running gateways */
export async function openCallbackAddress(targets: () => readonly string[]): Promise<CallbackAddress> {
  const server = createServer((incoming, reply) => {
    void (async () => {
      const body = Buffer.concat(await incoming.toArray());
      const contentType = incoming.headers['content-type'] ?? 'application/json';
      for (const target of targets()) {
        const answer = await request(`${target}${incoming.url}`, {
          method: 'POST',
          body,
          headers: { 'content-type': contentType },
        }).catch(() => undefined);
        if (answer === undefined || answer.statusCode >= 500) continue;
        reply.writeHead(answer.statusCode).end(await answer.body.text());
        return;
      }
      reply.writeHead(503).end();
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
