/** Reads the body of a request as JSON and reports why a body is invalid. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { duplicateKeyIn } from './duplicate-key.ts';
import { decodeUtf8 } from './exact-request.ts';
import { nameOf } from './invalid-request.ts';

/** A body that is not JSON that we accept. Its message quotes nothing of it but the name of a key. */
export class BodyFault extends Error {
  readonly parameter: string;
  readonly code: 'invalid_json' | 'unsupported_media_type';

  constructor(message: string, parameter = 'body', code: BodyFault['code'] = 'invalid_json') {
    super(message);
    this.parameter = parameter;
    this.code = code;
  }
}

/** Leaves JSON as the only body. Nothing at all is no body: many clients announce JSON with every request that they send. */
export function acceptJsonOnly(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const text = Buffer.isBuffer(body) ? decodeUtf8(body) : body;
    const fault = encodingFaultIn(request) ?? (text === undefined ? notUtf8() : undefined);
    if (fault !== undefined || text === undefined) return done(fault ?? null);
    if (text === '') return done(null, undefined);
    return parse(request, text, (error, value) =>
      done(error === null ? duplicateIn(text) : faultIn(text), value),
    );
  });
}

const notUtf8 = () => new BodyFault('The body is not UTF-8. Encode it as UTF-8 and send it again.');

/** Of a body that is announced as anything but plain UTF-8: it is read as it is announced, or not at all. */
function encodingFaultIn({ headers }: FastifyRequest): BodyFault | undefined {
  const { 'content-encoding': coding = 'identity', 'content-type': type = '' } = headers;
  const unsupported = (message: string, parameter: string) =>
    new BodyFault(message, parameter, 'unsupported_media_type');
  if (coding.toLowerCase() !== 'identity')
    return unsupported('Send the body without Content-Encoding.', 'Content-Encoding');
  const charsets = [...type.matchAll(/;\s*charset\s*=\s*"?([^";\s]*)/gi)].map(([, name]) => name);
  return charsets.every((name) => /^utf-?8$/i.test(name ?? ''))
    ? undefined
    : unsupported('Encode the body as UTF-8, and declare charset=utf-8 or nothing.', 'Content-Type');
}

function duplicateIn(text: string): BodyFault | null {
  const key = duplicateKeyIn(text);
  if (key === undefined) return null;
  const parameter = nameOf([key]);
  return new BodyFault(`${parameter} occurs twice in one object. Send it once.`, parameter);
}

function faultIn(text: string): BodyFault {
  try {
    JSON.parse(text);
    return new BodyFault('The body has a name that is not accepted: __proto__ or constructor.');
  } catch (error) {
    return new BodyFault(`The body is not valid JSON${placeOf(error)}.`);
  }
}

/** Only the numbers of V8's message are used: it may quote the input. */
function placeOf(error: unknown): string {
  const { message } = error as Error;
  const [, line, column] = /\(line (\d+) column (\d+)\)$/.exec(message) ?? [];
  if (line !== undefined && column !== undefined) return `: look at line ${line}, column ${column}`;
  return /^Unexpected end/.test(message) ? ': it ends unexpectedly' : '';
}
