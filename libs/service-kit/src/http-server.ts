import type { FastifyInstance, FastifyReply } from 'fastify';
import { StartupError, errorCode } from './errors.ts';
import type { Log } from './log.ts';

/** One entry of an error answer, as the specification's section 7 writes it. */
export interface ErrorEntry {
  code: string;
  kind: string;
  message: string;
  parameter?: string;
}

/**
 * Limits of every HTTP server of ours: a slow or endless request is closed within about four seconds and costs at most
 * `bodyLimitBytes` of memory. Node ignores `requestTimeout` below its default `headersTimeout`, so both are set.
 */
export const httpServerOptions = (options: { bodyLimitBytes: number }) => ({
  bodyLimit: options.bodyLimitBytes,
  requestTimeout: 3_000,
  http: { headersTimeout: 2_000, requestTimeout: 3_000, connectionsCheckingInterval: 500 },
  forceCloseConnections: 'idle' as const,
  // A request that comes while the server is closing is answered, and waited for, like those before it. Fastify would
  // refuse it with a body that no client of ours knows.
  return503OnClosing: false,
  exposeHeadRoutes: false,
  routerOptions: { maxParamLength: 512 },
});

/** Answers with the specification's error body. */
export function sendErrors(reply: FastifyReply, statusCode: number, errors: ErrorEntry[]): FastifyReply {
  return reply.code(statusCode).send({ success: false, errors });
}

const refusalByFastifyCode: Record<string, { statusCode: number; code: string; message: string }> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    statusCode: 415,
    code: 'unsupported_media_type',
    message: 'Send the body as JSON, with the header Content-Type: application/json.',
  },
  FST_ERR_CTP_BODY_TOO_LARGE: { statusCode: 413, code: 'body_too_large', message: 'The body is too large.' },
  FST_ERR_CTP_EMPTY_JSON_BODY: { statusCode: 400, code: 'invalid_json', message: 'The body is empty.' },
  FST_ERR_CTP_INVALID_JSON_BODY: { statusCode: 400, code: 'invalid_json', message: 'The body is not JSON.' },
};

/** Leaves JSON as the only body, and gives every error and unknown path the specification's error body. */
export function answerInJsonOnly(app: FastifyInstance, log: Log): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, parseJson);
  app.setNotFoundHandler((_request, reply) =>
    sendErrors(reply, 404, [
      {
        code: 'path_not_found',
        kind: 'invalid_request_error',
        message: 'There is nothing at this method and path.',
      },
    ]),
  );
  app.setErrorHandler((error, request, reply) => {
    const refusal = refusalByFastifyCode[errorCode(error) ?? ''] ?? fromParserError(error);
    if (refusal !== undefined) {
      const { statusCode, code, message } = refusal;
      return sendErrors(reply, statusCode, [
        { code, kind: 'invalid_request_error', message, parameter: 'body' },
      ]);
    }
    log.error({ error, method: request.method, route: request.routeOptions.url ?? '' }, 'request failed');
    return sendErrors(reply, 500, [
      {
        code: 'core_api_error',
        kind: 'api_error',
        message: 'Something failed on our side; the log tells more.',
      },
    ]);
  });
}

/**
 * Lets a connection go once the request under way on it is answered, when the server is closing: a keep-alive connection
 * would otherwise hold the server open for as long as its client likes.
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

function fromParserError(error: unknown) {
  const isClientError =
    error instanceof Error &&
    'statusCode' in error &&
    typeof error.statusCode === 'number' &&
    error.statusCode < 500;
  if (!isClientError) return undefined;
  return error.statusCode === 400
    ? { statusCode: 400, code: 'invalid_json', message: 'The body is not JSON that we accept.' }
    : {
        statusCode: Number(error.statusCode),
        code: 'invalid_request',
        message: 'The request cannot be read.',
      };
}

/**
 * Listens on `host:port` and gives the port that was taken (the given one, or any free one for 0).
 *
 * @throws StartupError that names the port and `variable` where it is taken or may not be used.
 */
export async function listen(
  app: Pick<FastifyInstance, 'listen' | 'addresses'>,
  options: { host: string; port: number; variable: string },
): Promise<number> {
  const { host, port, variable } = options;
  try {
    await app.listen({ host, port });
  } catch (error) {
    const code = errorCode(error);
    const hint = `Set ${variable} to another port (0 takes any free one) and start again.`;
    if (code === 'EADDRINUSE')
      throw new StartupError('port_taken', `Port ${port} on ${host} is taken by another program. ${hint}`);
    if (code === 'EACCES')
      throw new StartupError('port_forbidden', `Port ${port} on ${host} may not be used. ${hint}`);
    throw error;
  }
  const address = app.addresses()[0];
  return typeof address === 'object' ? address.port : port;
}
