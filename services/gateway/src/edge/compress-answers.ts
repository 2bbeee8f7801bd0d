/** Compresses texts for clients that accept it. Streams are left as they are: an export must not wait for a buffer. */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyInstance } from 'fastify';

/** About one packet: less gains nothing. */
const compressedFromBytes = 1_400;
/** Level 4 takes a tenth of the time of the highest one, for a tenth more bytes. */
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
const brotli = promisify(brotliCompress);
const gzipped = promisify(gzip);

const isText = (type: unknown): boolean =>
  typeof type === 'string' && /^(text\/|application\/(json|javascript)|image\/svg)/.test(type);

const accepts = (header: unknown, encoding: string): boolean =>
  typeof header === 'string' &&
  new RegExp(`(^|,)\\s*${encoding}\\s*(,|$|;(?!\\s*q=0(\\.0*)?\\s*(,|$)))`).test(header);

export function compressAnswers(app: FastifyInstance): void {
  app.addHook('onSend', async (request, reply, payload) => {
    if (typeof payload !== 'string' && !Buffer.isBuffer(payload)) return payload;
    const isFit =
      request.method !== 'HEAD' &&
      payload.length >= compressedFromBytes &&
      isText(reply.getHeader('content-type')) &&
      // A strong tag names exactly these bytes.
      !reply.hasHeader('content-encoding') &&
      !reply.hasHeader('etag');
    if (!isFit) return payload;
    reply.header('vary', 'Accept-Encoding');
    const accepted = request.headers['accept-encoding'];
    const encoding = ['br', 'gzip'].find((each) => accepts(accepted, each));
    if (encoding === undefined) return payload;
    reply.header('content-encoding', encoding).removeHeader('content-length');
    return encoding === 'br' ? brotli(payload, brotliOptions) : gzipped(payload);
  });
}
