/** A proxy in front of the gateway that fails the first request of a sample. */
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Agent, request } from 'undici';

/** `lost`: the gateway executes it, and the connection breaks. `later`: it is answered as by a front door without services. */
export type FirstRequest = 'lost' | 'later' | 'through';

export interface SamplesProxy {
  url: string;
  /** The `Idempotency-Key` of each received request. */
  keys: readonly string[];
  close(): Promise<void>;
}

const unavailable = JSON.stringify({ success: false, errors: [{ code: 'service_unavailable' }] });

export async function startSamplesProxy(gatewayUrl: string, first: FirstRequest): Promise<SamplesProxy> {
  const keys: string[] = [];
  const agent = new Agent();
  async function handOn(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    keys.push(String(incoming.headers['idempotency-key']));
    const meets = keys.length === 1 ? first : 'through';
    if (meets === 'later') {
      incoming.resume();
      response.writeHead(503, { 'retry-after': '1', connection: 'close' }).end(unavailable);
      return;
    }
    const { statusCode, headers, body } = await request(`${gatewayUrl}${incoming.url}`, {
      method: 'POST',
      body: await buffer(incoming),
      dispatcher: agent,
      headers: {
        'content-type': 'application/json',
        authorization: String(incoming.headers.authorization),
        'idempotency-key': String(incoming.headers['idempotency-key']),
      },
    });
    const answer = await body.text();
    if (meets === 'lost') incoming.socket.resetAndDestroy();
    else response.writeHead(statusCode, { ...pick(headers, 'retry-after'), connection: 'close' }).end(answer);
  }
  const server = createServer((incoming, response) => void handOn(incoming, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    keys,
    async close() {
      server.closeAllConnections();
      await Promise.all([new Promise((resolve) => server.close(resolve)), agent.close()]);
    },
  };
}

const pick = (headers: Record<string, string | string[] | undefined>, name: string) =>
  headers[name] === undefined ? {} : { [name]: headers[name] };
