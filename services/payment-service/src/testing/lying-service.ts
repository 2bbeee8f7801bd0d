/** The sandbox behind an exchange that changes one thing in a request, an answer or a callback, to simulate a violation. */
import type { CommandDeps } from '@tollgate/conformance';
import type { Harness } from './harness.ts';

type Disguise = NonNullable<CommandDeps['disguise']>;

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
  method: string;
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

export function disguiseAs(lie: Lie, harness: Harness): Disguise {
  const { httpsUrl, httpUrl } = harness.addresses();
  return {
    http: (http) => ({
      ...http,
      send: async ({ method, url, headers = {}, body: sent = '' }) => {
        const { origin, pathname, search } = new URL(url);
        const { authorization, 'content-type': contentType } = headers;
        const call: Call = { method, path: `${pathname}${search}`, authorization, contentType, text: sent };
        const asked = lie.call?.(call) ?? call;
        const honest = await http.send({
          method: asked.method as typeof method,
          url: `${lie.servesPlainHttp === true && origin === httpUrl ? httpsUrl : origin}${asked.path}`,
          headers: {
            ...headers,
            ...(asked.authorization === undefined ? {} : { authorization: asked.authorization }),
            ...(asked.contentType === undefined ? {} : { 'content-type': asked.contentType }),
          },
          ...(asked.text === '' ? {} : { body: asked.text }),
        });
        const answer = lie.answer?.(honest, call) ?? honest;
        return { ...honest, ...answer, call: `${method} ${call.path}`, body: parse(answer.text) };
      },
    }),
    callbacks: (receiver) => ({
      ...receiver,
      receivedFor: (name) =>
        receiver.receivedFor(name).flatMap((honest) => {
          const changed = lie.callback === undefined ? honest : lie.callback(honest);
          return changed === undefined ? [] : [{ ...honest, ...changed, text: JSON.stringify(changed.body) }];
        }),
    }),
  };
}

/** Undefined for a text that is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
