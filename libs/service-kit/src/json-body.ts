/** Reads the body of a request as JSON, and says what is wrong with one that is none. */
import type { FastifyInstance } from 'fastify';
import { duplicateKeyIn } from './duplicate-key.ts';
import { nameOf } from './invalid-request.ts';

/** A body that is not JSON that we accept. Its message quotes nothing of it but the name of a key. */
export class BodyFault extends Error {
  readonly parameter: string;

  constructor(message: string, parameter = 'body') {
    super(message);
    this.parameter = parameter;
  }
}

/** Leaves JSON as the only body. Nothing at all is no body: many clients announce JSON with every request that they send. */
export function acceptJsonOnly(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    const text = String(body);
    if (text === '') return done(null, undefined);
    return parse(request, text, (error, value) =>
      done(error === null ? duplicateIn(text) : faultIn(text), value),
    );
  });
}

function duplicateIn(text: string): BodyFault | null {
  const key = duplicateKeyIn(text);
  if (key === undefined) return null;
  const parameter = nameOf([key]);
  return new BodyFault(`${parameter} is there twice in one object. Send it once.`, parameter);
}

function faultIn(text: string): BodyFault {
  try {
    JSON.parse(text);
    return new BodyFault('The body has a name that is not accepted: __proto__ or constructor.');
  } catch (error) {
    return new BodyFault(`The body is not valid JSON${placeOf(error)}.`);
  }
}

/** In V8's words, of which only the numbers are taken over: it may quote what stands there. */
function placeOf(error: unknown): string {
  const { message } = error as Error;
  const [, line, column] = /\(line (\d+) column (\d+)\)$/.exec(message) ?? [];
  if (line !== undefined && column !== undefined) return `: look at line ${line}, column ${column}`;
  return /^Unexpected end/.test(message) ? ': it ends too early' : '';
}
