/**
 * The API as a person calls it: the same routes that `curl` reaches, with the person's credential instead of a key.
 * Everything the console shows and does goes through these routes.
 */
import { text } from 'node:stream/consumers';
import type { AnswerName, AnswerOf } from '@tollgate/gateway-api/http';
import { omitUndefined } from '@tollgate/service-kit';
import type { FastifyInstance, LightMyRequestResponse } from 'fastify';

interface Within {
  team: string;
  environment: string;
}

interface Terms {
  /** The team whose routes are called; none for a route across teams. */
  within?: Within | undefined;
  idempotencyKey?: string | undefined;
}

interface ApiRequest extends Terms {
  method?: 'GET' | 'POST';
  /** Includes the query. */
  path: string;
  body?: object | undefined;
}

export interface ApiError {
  code: string;
  message?: string;
  parameter?: string;
}

export type ApiAnswer<Body> =
  | { kind: 'answer'; status: number; body: Body }
  | { kind: 'refused'; status: number; errors: ApiError[]; requestId?: string; token?: string };

type Filtered<Body> = { found: Body; wrong?: undefined } | { found?: undefined; wrong: string };

interface Download {
  stream: NodeJS.ReadableStream;
  /** The header that contains the file name. */
  disposition: string;
}

export class ApiRefusal extends Error {
  readonly status: number;
  readonly errors: readonly ApiError[];
  readonly requestId: string | undefined;

  constructor({ status, errors, requestId }: Extract<ApiAnswer<never>, { kind: 'refused' }>) {
    super(errors[0]?.message ?? errors[0]?.code ?? 'refused');
    this.status = status;
    this.errors = errors;
    this.requestId = requestId;
  }
}

/** Calls the API as one person. */
export type Api = ReturnType<typeof createApi>;

/**
 * @param inject of the server that answers the API
 * @param bearer returns the credential for a request
 * @param address the person's network address
 */
export function createApi(
  { inject }: Pick<FastifyInstance, 'inject'>,
  bearer: () => string,
  address: string,
) {
  const headersOf = (within: Within | undefined) => ({
    authorization: `Bearer ${bearer()}`,
    ...(within === undefined
      ? {}
      : { 'tollgate-team': within.team, 'tollgate-environment': within.environment }),
  });

  async function call<Body>(asked: ApiRequest): Promise<ApiAnswer<Body>> {
    const { method = 'GET', path, within, body, idempotencyKey } = asked;
    const answer = await inject({
      method,
      url: path,
      remoteAddress: address,
      headers: {
        ...headersOf(within),
        ...omitUndefined({ 'idempotency-key': idempotencyKey }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
    });
    const { statusCode: status } = answer;
    if (status < 300) return { kind: 'answer', status, body: answer.json<Body>() };
    return toRefused(answer, answer.body);
  }

  return {
    call,
    post: <Body>(path: string, body?: object, more?: Terms) =>
      call<Body>({ method: 'POST', path, body, ...more }),
    /** @throws ApiRefusal for every answer except 2xx */
    async get<Name extends AnswerName>(path: string, within?: Within): Promise<AnswerOf<Name>> {
      const answer = await call<AnswerOf<Name>>({ path, within });
      if (answer.kind === 'refused') throw new ApiRefusal(answer);
      return answer.body;
    },
    /** As `get`, or why the filters of a list are invalid. */
    async filtered<Name extends AnswerName>(path: string): Promise<Filtered<AnswerOf<Name>>> {
      const answer = await call<AnswerOf<Name>>({ path });
      if (answer.kind === 'answer') return { found: answer.body };
      if (answer.status !== 400) throw new ApiRefusal(answer);
      return { wrong: answer.errors.map(({ message, code }) => message ?? code).join(' ') };
    },
    /** Components that are unavailable at the moment, by their `/readyz` names. */
    async notWorking(): Promise<string[]> {
      const answer = await inject({ method: 'GET', url: '/readyz' });
      const { notReady = [], degraded = [] } = answer.json<{ notReady?: string[]; degraded?: string[] }>();
      return [...notReady, ...degraded];
    },
    /** Streams a file. @param signal aborted when the reader has disconnected */
    async download(path: string, signal: AbortSignal): Promise<ApiAnswer<Download>> {
      const answer = await inject({
        method: 'GET',
        url: path,
        remoteAddress: address,
        payloadAsStream: true,
        signal,
        headers: headersOf(undefined),
      });
      const { statusCode: status } = answer;
      if (status !== 200) return toRefused(answer, await text(answer.stream()));
      // The route waits until its output has been read; without this it would wait indefinitely.
      signal.addEventListener('abort', () => answer.raw.res.destroy(), { once: true });
      const disposition = answer.headers['content-disposition'] ?? 'attachment';
      return { kind: 'answer', status, body: { stream: answer.stream(), disposition } };
    },
  };
}

function toRefused(
  { statusCode: status, headers }: Pick<LightMyRequestResponse, 'statusCode' | 'headers'>,
  body: string,
): Extract<ApiAnswer<never>, { kind: 'refused' }> {
  const requestId = headers['request-id'];
  return {
    kind: 'refused',
    status,
    ...errorsIn(body),
    ...(typeof requestId === 'string' ? { requestId } : {}),
  };
}

/** Includes the token if an operation was recorded despite the error. */
function errorsIn(body: string): { errors: ApiError[]; token?: string } {
  try {
    const { errors = [], token } = JSON.parse(body) as { errors?: ApiError[]; token?: string };
    return { errors, ...(token === undefined ? {} : { token }) };
  } catch {
    return { errors: [] };
  }
}

/** The named parameters of a page that have a value, for the query of a route. */
export function queryOf(
  query: URLSearchParams,
  names: readonly string[],
  given: Record<string, string> = {},
): URLSearchParams {
  const kept = names.flatMap((name) => (query.get(name) ? [[name, query.get(name) ?? '']] : []));
  return new URLSearchParams([...Object.entries(given), ...kept] as [string, string][]);
}
