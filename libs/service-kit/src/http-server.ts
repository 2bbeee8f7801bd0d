import { once } from 'node:events';
import { createServer } from 'node:net';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { InvariantViolation, StartupError, errorCode } from './errors.ts';
import { ambiguousHeaderIn, isExactQuery } from './exact-request.ts';
import { omitUndefined } from './omit-undefined.ts';
import { nameOf } from './invalid-request.ts';
import { BodyFault, acceptJsonOnly } from './json-body.ts';
import type { Log } from './log.ts';

/** One entry of an error answer, as the specification's section 7 writes it. */
export interface ErrorEntry {
  code: string;
  kind: string;
  message: string;
  parameter?: string;
}

export interface HttpServerLimits {
  bodyLimitBytes: number;
  /** Longer than a client or proxy keeps its own end, or it loses a request now and then. 10 seconds by default. */
  idleMs?: number;
}

/**
 * Zod validates input. Without this, each start would load Fastify's compilers of JSON schemas, a tenth of all code that it
 * loads.
 */
const noCompiler = (): never => {
  throw new InvariantViolation('A route has a JSON schema. Use a zod schema instead.');
};

/**
 * Limits of each of our HTTP servers: a slow or endless request is closed within about four seconds and costs at most
 * `bodyLimitBytes` of memory, and a connection is kept for `idleMs` after its last answer. Node ignores `requestTimeout` below its default `headersTimeout`, so both are set.
 */
export const httpServerOptions = ({ bodyLimitBytes, idleMs = 10_000 }: HttpServerLimits) => ({
  bodyLimit: bodyLimitBytes,
  keepAliveTimeout: idleMs,
  // A process that is suspended during its start continues when it wakes up; none of our plugins waits for anything.
  pluginTimeout: 0,
  requestTimeout: 3_000,
  http: {
    headersTimeout: 2_000,
    requestTimeout: 3_000,
    connectionsCheckingInterval: 500,
    // Node's own answer to such a request is empty.
    requireHostHeader: false,
  },
  forceCloseConnections: 'idle' as const,
  // A request during the close of the server is answered, and awaited, like earlier ones. Fastify would refuse it with a body
  // that none of our clients knows.
  return503OnClosing: false,
  exposeHeadRoutes: true,
  routerOptions: { maxParamLength: 512 },
  schemaController: { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } },
  // A path that the router cannot parse reaches none of our handlers.
  frameworkErrors: (error: FastifyError, _request: FastifyRequest, reply: FastifyReply) => {
    sendErrors(reply, error.statusCode ?? serverErrors.invalid_request.status, [unreadablePath]);
  },
});

/** Of an answer to a path that the router cannot read. */
export const unreadablePath: ErrorEntry = {
  code: 'invalid_request',
  kind: 'invalid_request_error',
  parameter: 'path',
  message: 'The path of the request is unreadable or too long.',
};

/** Answers with the specification's error body. */
export function sendErrors(reply: FastifyReply, statusCode: number, errors: ErrorEntry[]): FastifyReply {
  return reply.code(statusCode).send({ success: false, errors });
}

const ofServer = (status: number, message: string) =>
  ({ kind: 'invalid_request_error', status, message }) as const;
const ofBody = (status: number, message: string) =>
  ({ ...ofServer(status, message), parameter: 'body' }) as const;

/** Answers that any of our HTTP servers may give by itself. */
export const serverErrors = {
  path_not_found: ofServer(404, 'No route has this method and path.'),
  method_not_allowed: {
    ...ofServer(405, 'This path does not support this method. The Allow header lists the supported methods.'),
  },
  invalid_request: ofBody(400, 'The request is not valid HTTP.'),
  invalid_json: ofBody(400, 'The body is not valid JSON.'),
  body_too_large: ofBody(413, 'The body is too large. Send a smaller one: the API accepts at most 64 KiB.'),
  unsupported_media_type: ofBody(
    415,
    'Send the body as JSON, with the header Content-Type: application/json.',
  ),
  core_api_error: {
    kind: 'api_error',
    status: 500,
    message: 'An internal error occurred. The log has the details.',
  },
} as const;
type ServerErrorCode = keyof typeof serverErrors;

const missingHost = {
  message: 'HTTP/1.1 requests need a Host header. Send it.',
  parameter: 'Host',
};

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Requests to this route decide nothing, so they may be ambiguous. */
    acceptsAmbiguity?: true;
  }
}

/** Why a request cannot be read in one way only; undefined if it can. */
function faultIn({ raw, headers, url, routeOptions }: FastifyRequest) {
  if (raw.httpVersion === '1.1' && headers.host === undefined) return missingHost;
  if (routeOptions.config.acceptsAmbiguity === true) return undefined;
  const ambiguous = ambiguousHeaderIn(raw.rawHeaders);
  if (ambiguous !== undefined) {
    const name = nameOf([ambiguous]);
    return { message: `${name} has several values. Send it once, with one value.`, parameter: name };
  }
  const queryAt = url.indexOf('?');
  if (queryAt === -1 || isExactQuery(url.slice(queryAt))) return undefined;
  const message = 'The query is not percent-encoded UTF-8. Encode its values, and send it again.';
  return { message, parameter: 'query' };
}

const codeByFastifyCode: Readonly<Record<string, ServerErrorCode>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
};

function sendServerError(
  reply: FastifyReply,
  code: ServerErrorCode,
  { statusCode, message, parameter }: { statusCode?: number; message?: string; parameter?: string } = {},
): FastifyReply {
  const { status, ...stated } = serverErrors[code];
  return sendErrors(reply, statusCode ?? status, [
    { code, ...stated, ...omitUndefined({ message, parameter }) },
  ]);
}

/** Accepts only JSON bodies, and answers every error and unknown path with the specification's error body. */
export function answerInJsonOnly(app: FastifyInstance, log: Log): void {
  acceptJsonOnly(app);
  app.addHook('onRequest', async (request, reply) => {
    const fault = faultIn(request);
    return fault && sendServerError(reply, 'invalid_request', fault);
  });
  const methodsAt = rememberRoutes(app);
  const answerNotFound = ({ method, url }: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const allowed = methodsAt(url);
    if (allowed.length === 0 || allowed.includes(method)) return sendServerError(reply, 'path_not_found');
    return sendServerError(reply.header('allow', allowed.join(', ')), 'method_not_allowed');
  };
  app.setNotFoundHandler(answerNotFound);
  // Before the body is read: its faults would be reported instead.
  app.addHook('preParsing', async (request, reply, body) =>
    request.is404 ? answerNotFound(request, reply) : body,
  );
  app.setErrorHandler((error, request, reply) => {
    const known = codeByFastifyCode[errorCode(error) ?? ''];
    if (known !== undefined) return sendServerError(reply, known);
    if (error instanceof BodyFault) return sendServerError(reply, error.code, error);
    const status = clientErrorStatusOf(error);
    if (status === 400) return sendServerError(reply, 'invalid_json');
    if (status !== undefined) return sendServerError(reply, 'invalid_request', { statusCode: status });
    log.error({ error, method: request.method, route: request.routeOptions.url ?? '' }, 'request failed');
    return sendServerError(reply, 'core_api_error');
  });
}

/** Returns the function that lists the methods of a path; call it before routes are added. */
function rememberRoutes(app: FastifyInstance): (url: string) => readonly string[] {
  const methodsByRoute = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ method, url }) => {
    const methods = methodsByRoute.get(url) ?? new Set();
    for (const each of [method].flat()) methods.add(each);
    methodsByRoute.set(url, methods);
  });
  return (url) => {
    const text = url.split('?')[0] ?? '';
    const path = partsOf(text);
    // A literal route is not a value of another's parameter.
    const named = methodsByRoute.get(text);
    const found =
      named === undefined ? [...methodsByRoute].filter(([route]) => isAt(partsOf(route), path)) : [];
    return [...(named ?? new Set(found.flatMap(([, methods]) => [...methods])))].sort();
  };
}

const partsOf = (path: string): string[] => path.split('/');

const isAt = (route: readonly string[], path: readonly string[]): boolean =>
  route.length === path.length &&
  route.every((part, place) => (part.startsWith(':') ? path[place] !== '' : part === path[place]));

const clientErrorStatusOf = (error: unknown): number | undefined =>
  error instanceof Error &&
  'statusCode' in error &&
  typeof error.statusCode === 'number' &&
  error.statusCode < 500
    ? error.statusCode
    : undefined;

/**
 * Closes a connection after the answer to its current request, when the server is closing: a keep-alive connection
 * would otherwise keep the server open for as long as its client likes.
 */
export function endConnectionsOnClose(app: FastifyInstance): void {
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.addHook('onSend', async (_request, reply, payload) => {
    if (isClosing) reply.header('connection', 'close');
    return payload;
  });
}

const noSuchHost = ['ENOTFOUND', 'EAI_AGAIN', 'EADDRNOTAVAIL', 'EINVAL'];

/** Where a server listens, and the variables that set it. */
export interface ListenAddress {
  host: string;
  /** 0 for any free one. */
  port: number;
  variable: string;
  /** @default GATEWAY_HOST */
  hostVariable?: string;
}

const portsTaken = (taken: readonly ListenAddress[]): StartupError => {
  const named = taken.map(({ host, port, variable }) => `port ${port} on ${host} (${variable})`).join(', ');
  const hint = 'Set each variable to another port (0 takes any free one) and start again.';
  return new StartupError('port_taken', `Already in use: ${named}. ${hint}`);
};

/**
 * Checks all ports before any server starts. Otherwise each start would report only the first port that is taken.
 *
 * @throws StartupError with every port that is taken, and every port that is wanted twice
 */
export async function requireFreePorts(addresses: readonly ListenAddress[]): Promise<void> {
  await using servers = new AsyncDisposableStack();
  const taken: ListenAddress[] = [];
  for (const address of addresses.filter(({ port }) => port !== 0)) {
    const server = servers.use(createServer());
    await once(server.listen({ host: address.host, port: address.port }), 'listening').catch(
      (error: unknown) => {
        // The server itself reports every other error.
        if (errorCode(error) === 'EADDRINUSE') taken.push(address);
      },
    );
  }
  if (taken.length > 0) throw portsTaken(taken);
}

/**
 * Listens and returns the port.
 *
 * @throws StartupError with the port or the host and its variable, if it is taken or may not be used
 */
export async function listen(
  app: Pick<FastifyInstance, 'listen' | 'addresses'>,
  address: ListenAddress,
): Promise<number> {
  const { host, port, variable, hostVariable = 'GATEWAY_HOST' } = address;
  try {
    await app.listen({ host, port });
  } catch (error) {
    const code = errorCode(error);
    if (code === 'EADDRINUSE') throw portsTaken([address]);
    if (code === 'EACCES')
      throw new StartupError(
        'port_forbidden',
        `Port ${port} on ${host} is not permitted. Set ${variable} to another (0 takes any free one) and start again.`,
      );
    if (code !== undefined && noSuchHost.includes(code))
      throw new StartupError(
        'host_unknown',
        `${host} is not an address of this machine (${code}). Set ${hostVariable} to one and start again.`,
      );
    throw error;
  }
  const bound = app.addresses()[0];
  return typeof bound === 'object' ? bound.port : port;
}
