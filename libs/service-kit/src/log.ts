import { pino, type DestinationStream } from 'pino';
import { z } from 'zod';
import { currentRequest, isRequestId } from './current-request.ts';
import { TollgateError, errorCode } from './errors.ts';

const textFields = [
  ...['service', 'team', 'keyId', 'account', 'operation', 'outcome', 'code', 'phase', 'stream', 'topic'],
  ...['position', 'method', 'route', 'url', 'release'],
  /** Of the payment, payout or refund. */
  'token',
  /** Origin of a rejected request, or address of an unreachable peer. */
  'address',
  /** Of an entry of the security log. */
  'hash',
  /** For work without a request: the correlation id of its events. */
  'correlationId',
  /** Of the request that the line is about; if it is left out, of the one that the process works for just now. */
  'requestId',
  /** The client's own id. */
  'clientRequestId',
  /** One life of a process. */
  'member',
] as const;

const numberFields = [
  ...['partition', 'revision', 'attemptNumber', 'count', 'statusCode', 'port', 'durationMs', 'waitMs'],
  /** The part of `durationMs` in calls of the Payment Service. */
  'providerMs',
  'schemaVersion',
] as const;

/**
 * The allowed fields of a log line. Everything else is dropped, so that a secret can reach a log only under one of these names;
 * none of them is for data of a caller or of a card.
 */
export type LogFields = Partial<
  Record<(typeof textFields)[number], string> & Record<(typeof numberFields)[number], number>
> & { error?: unknown };

/** Structured logging through named fields. */
export interface Log {
  debug(fields: LogFields, message: string): void;
  info(fields: LogFields, message: string): void;
  warn(fields: LogFields, message: string): void;
  error(fields: LogFields, message: string): void;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';
const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const satisfies LogLevel[];

/** Of a variable. */
export const logLevelSchema = z.enum(logLevels, `must be one of ${logLevels.join(', ')}`);

const scalarFields: ReadonlySet<string> = new Set([...textFields, ...numberFields]);

/** An error without its message unless we wrote it: messages of other packages repeat URLs, bodies and headers. */
function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { name: typeof error };
  const frames = error.stack?.split('\n').filter((line) => line.trimStart().startsWith('at ')) ?? [];
  return {
    name: error.name,
    code: errorCode(error),
    ...(error instanceof TollgateError ? { message: error.message } : {}),
    ...(error.cause === undefined ? {} : { cause: describeError(error.cause) }),
    ...(error instanceof SuppressedError
      ? { error: describeError(error.error), suppressed: describeError(error.suppressed) }
      : {}),
    stack: frames.slice(0, 8).map((line) => line.trim()),
  };
}

function allowed(fields: LogFields): Record<string, unknown> {
  const id = currentRequest()?.id;
  const line: Record<string, unknown> =
    id === undefined ? {} : { [isRequestId(id) ? 'requestId' : 'correlationId']: id };
  for (const [name, value] of Object.entries(fields)) {
    if (name === 'error') line['error'] = describeError(value);
    else if (scalarFields.has(name) && (typeof value === 'string' || typeof value === 'number'))
      line[name] = value;
  }
  return line;
}

/** Writes JSON lines to `destination` (standard output by default). */
export function createLog(service: string, level: LogLevel, destination?: DestinationStream): Log {
  const options = { level, base: { service }, timestamp: pino.stdTimeFunctions.isoTime };
  const logger = destination === undefined ? pino(options) : pino(options, destination);
  // Most lines are of a level that is off, and cost nothing then.
  const write = (at: Exclude<LogLevel, 'silent'>) => (fields: LogFields, message: string) => {
    if (logger.isLevelEnabled(at)) logger[at](allowed(fields), message);
  };
  return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

/** Drops every line. */
export const silentLog: Log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
