/**
 * Gives each request its id: it is in the answer, in the body of an error, in every log line of the request, and in
 * the events that it causes.
 */
import { explained, isErrorBody } from '@tollgate/gateway-api/http';
import type { RequestRecord } from '@tollgate/requests';
import { type Log, omitUndefined, inRequest } from '@tollgate/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isKeyIdOfPerson } from '@tollgate/teams';
import { type RequestNotes, encodeNotes, notesOf, requestNotesHeader } from './request-notes.ts';
import { toRequestRecord, tokenIn, tokenOf } from './to-request-record.ts';

export interface TraceOptions {
  log: Log;
  /** Receives the record of each API request; never throws, and does not wait. */
  noteRequest?: ((record: RequestRecord) => void) | undefined;
}

/** For every server, before its routes are registered. */
export function traceRequests(app: FastifyInstance, options: TraceOptions): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.raw.once('close', () => endIfGone(request, reply, options));
    inRequest(notesOf(request), done);
  });
  // Reading the body has led out of it.
  app.addHook('preValidation', (request, _reply, done) => inRequest(notesOf(request), done));
  app.addHook('preSerialization', (request, _reply, payload, done) => {
    const known = notesOf(request);
    const token = tokenIn(payload);
    if (token !== undefined) known.token = token;
    if (!isErrorBody(payload)) return done(null, payload);
    const [first] = payload.errors;
    // The Payment Service's own are passed on, and are its text.
    if (first !== undefined && /^\w{1,64}$/.test(first.code)) known.errorCode = first.code;
    done(null, explained(payload, request.id));
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    notesOf(request).isDecided = true;
    reply.header('request-id', request.id);
    endIfGone(request, reply, options);
    done(null, payload);
  });
  app.addHook('onResponse', (request, reply, done) => {
    end(request, reply, options, reply.statusCode);
    done();
  });
}

/** Fastify does not report an answer after a disconnect, although the request is executed. */
function endIfGone(request: FastifyRequest, reply: FastifyReply, options: TraceOptions): void {
  if (reply.raw.destroyed && notesOf(request).isDecided === true) end(request, reply, options);
}

/** Monitoring calls it several times a minute. */
const unremarkable: ReadonlySet<string | undefined> = new Set(['/healthz', '/readyz', '/metrics']);

/** Once for each request. @param status that it was answered with; undefined if the client was gone */
function end(
  request: FastifyRequest,
  reply: FastifyReply,
  { log, noteRequest }: TraceOptions,
  status?: number,
): void {
  const known = notesOf(request);
  const { url: route } = request.routeOptions;
  if (known.isEnded === true || unremarkable.has(route) || isLooking(known, request)) return;
  known.isEnded = true;
  const record = toRequestRecord(request, reply, status);
  logRequest(log, record);
  if (route === undefined || route.startsWith('/api/')) noteRequest?.(record);
}

/** A watched page of the console repeats its reads; actions of people are recorded. */
const isLooking = ({ caller }: Pick<RequestNotes, 'caller'>, { method }: FastifyRequest): boolean =>
  method === 'GET' && caller !== undefined && isKeyIdOfPerson(caller.keyId);

function logRequest(
  log: Log,
  { id: requestId, errorCode: code, caller, status, ...fields }: RequestRecord,
): void {
  const { team, keyId } = caller ?? {};
  log.info(
    { ...fields, ...omitUndefined({ requestId, statusCode: status, code, team, keyId }) },
    status === undefined ? 'the client disconnected before the answer' : 'answered',
  );
}

/** For a service behind a front door: reports details of forwarded requests that the front door cannot know. */
export function reportToFrontDoor(app: FastifyInstance): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    reply.header(requestNotesHeader, encodeNotes(notesOf(request), tokenOf(request)));
    done(null, payload);
  });
}
