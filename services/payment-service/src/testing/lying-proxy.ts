/**
 * A proxy in front of the sandbox that changes one thing in a request, an answer or a callback, to simulate a
 * violation.
 */
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { Agent, request as send } from 'undici';
import type { Harness } from './harness.ts';

export type Body = Record<string, unknown>;

export interface Call {
  method: string;
  /** Includes the query. */
  path: string;
  authorization: string | undefined;
  contentType: string | undefined;
  text: string;
}

export interface Answer {
  statusCode: number;
  contentType: string;
  location: string | undefined;
  text: string;
}

interface SentCallback {
  method: 'POST' | 'PUT';
  contentType: string;
  body: Body;
}

/** The violation. */
export interface Lie {
  call?: (call: Call) => Call;
  answer?: (honest: Answer, call: Call) => Answer;
  /** Undefined drops the callback. */
  callback?: (honest: SentCallback) => SentCallback | undefined;
  servesPlainHttp?: boolean;
}

export type LyingProxy = Awaited<ReturnType<typeof startLyingProxy>>;

export async function startLyingProxy(harness: Harness) {
  const { httpsUrl, httpUrl, caFile } = harness.addresses();
  const pem = (name: string) => readFileSync(join(dirname(caFile), name), 'utf8');
  const agent = new Agent({ connect: { ca: pem('ca.pem') } });
  let lie: Lie = {};
  let own = { httpsUrl: '', httpUrl: '' };

  const forward = async (origin: string, asked: Call): Promise<Answer> => {
    const { statusCode, headers, body } = await send(`${origin}${asked.path}`, {
      method: asked.method as 'GET',
      headers: {
        ...(asked.authorization === undefined ? {} : { authorization: asked.authorization }),
        ...(asked.contentType === undefined ? {} : { 'content-type': asked.contentType }),
      },
      body: asked.text === '' ? null : asked.text,
      dispatcher: agent,
    });
    const restored = (await body.text())
      .replaceAll(httpsUrl, own.httpsUrl)
      .replaceAll(/http:\/\/[\d.:]+\/forward\/([^"]+)/g, (_all, to: string) => decodeURIComponent(to));
    const location = headers['location'];
    return {
      statusCode,
      contentType: String(headers['content-type']),
      location: typeof location === 'string' ? location.replace(httpsUrl, own.httpsUrl) : undefined,
      text: restored,
    };
  };
  const callbacksThroughUs = (asked: Call): Call => ({
    ...asked,
    text: asked.text.replace(
      /"callbackUrl":"(http[^"]+)"/,
      (_all, url: string) => `"callbackUrl":"${own.httpUrl}/forward/${encodeURIComponent(url)}"`,
    ),
  });
  const serve =
    (origin: string) =>
    async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const asked = await readCall(request);
      const honest = await forward(origin, callbacksThroughUs(lie.call?.(asked) ?? asked));
      const { statusCode, contentType, location, text: sent } = lie.answer?.(honest, asked) ?? honest;
      response.writeHead(statusCode, {
        'content-type': contentType,
        ...(location === undefined ? {} : { location }),
      });
      response.end(sent);
    };
  const passCallback = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { path, text: sent } = await readCall(request);
    const honest = {
      method: 'POST',
      contentType: 'application/json',
      body: JSON.parse(sent) as Body,
    } as const;
    const passed = lie.callback === undefined ? honest : lie.callback(honest);
    const url = decodeURIComponent(path.slice('/forward/'.length));
    const statusCode = passed === undefined ? 200 : await post(url, passed);
    response.writeHead(statusCode).end();
  };
  const [key, cert] = [pem('server-key.pem'), `${pem('server.pem')}\n${pem('ca.pem')}`];
  const https = createHttpsServer({ key, cert }, listener(serve(httpsUrl)));
  const http = createServer(
    listener((request, response) => {
      if (request.url?.startsWith('/forward/')) return passCallback(request, response);
      return serve(lie.servesPlainHttp === true ? httpsUrl : httpUrl)(request, response);
    }),
  );
  const portOf = async (server: typeof http | typeof https): Promise<number> => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return (server.address() as AddressInfo).port;
  };
  own = {
    httpsUrl: `https://127.0.0.1:${await portOf(https)}`,
    httpUrl: `http://127.0.0.1:${await portOf(http)}`,
  };
  return {
    ...own,
    caFile,
    setLie: (next: Lie): void => {
      lie = next;
    },
    close: async (): Promise<void> => {
      for (const server of [https, http]) {
        server.closeAllConnections();
        server.close();
      }
      await agent.destroy();
    },
  };
}

/** Closes the connection when the sender or the sandbox is gone. */
const listener =
  (handle: (request: IncomingMessage, response: ServerResponse) => Promise<void>): RequestListener =>
  (request, response) =>
    void handle(request, response).catch(() => response.destroy());

async function readCall(request: IncomingMessage): Promise<Call> {
  const { method = '', url = '', headers } = request;
  const { authorization, 'content-type': contentType } = headers;
  return { method, path: url, authorization, contentType, text: await text(request) };
}

const post = (url: string, { method, contentType, body }: SentCallback): Promise<number> =>
  fetch(url, { method, headers: { 'content-type': contentType }, body: JSON.stringify(body) }).then(
    ({ status }) => status,
    () => 503,
  );
