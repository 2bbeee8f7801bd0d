/** The front door of a process, in front of services that record their requests. */
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { startHere } from '../../../composition/testing/start-here.ts';

interface Seen {
  method: string | undefined;
  url: string | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

interface Service {
  origin: string;
  /** Requests of clients, in order of their arrival. */
  seen: Seen[];
  /** Records of completed requests, which arrive at some later time. */
  reports: Seen[];
  stop(): Promise<void>;
}

const answerDone = (_request: IncomingMessage, response: ServerResponse) =>
  void response.end('{"success":true}');

/** @param answer is called once the whole request has been read */
export async function startService(answer = answerDone): Promise<Service> {
  const seen: Seen[] = [];
  const reports: Seen[] = [];
  const server = createServer((incoming, response) => {
    void text(incoming).then((body) => {
      const { method, url, headers } = incoming;
      if (url === '/internal/requests') reports.push({ method, url, headers, body });
      else if (url !== '/readyz') seen.push({ method, url, headers, body });
      response.setHeader('content-type', 'application/json');
      answer(incoming, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(stop);
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, reports, stop };
}

/** Of an ended instance: no process listens there. */
export async function goneOrigin(): Promise<string> {
  const { origin, stop } = await startService();
  await stop();
  return origin;
}

/** @returns its address */
export async function startFrontDoor(env: Record<string, string>): Promise<string> {
  const nowhere = 'http://127.0.0.1:9';
  const addresses = { COMMAND_SERVICE_URL: nowhere, QUERY_SERVICE_URL: nowhere, NOTIFIER_URL: nowhere };
  const { url } = await startHere({ env: { ...addresses, ...env }, services: ['api'] });
  return url;
}
