/** Notes on each running request, from its first line to the end of its answer. */
import { mayBeKept } from '@tollgate/gateway-api/http';
import { type CurrentRequest, omitUndefined } from '@tollgate/service-kit';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';

export interface RequestNotes extends CurrentRequest {
  /** The client's own id. */
  readonly clientRequestId?: string;
  /** Of the payment that it is about, or else of the payout or refund. */
  token?: string;
  /** That it was answered with. */
  errorCode?: string;
  /** Its answer is decided, even if the client has disconnected. */
  isDecided?: boolean;
  /** Its end was recorded. */
  isEnded?: boolean;
}

const notes = new WeakMap<FastifyRequest, RequestNotes>();

export function notesOf(request: FastifyRequest): RequestNotes {
  const known = notes.get(request);
  if (known !== undefined) return known;
  const clientRequestId = clientRequestIdOf(request.headers['x-request-id']);
  // Not the request itself: it may be kept for long, and its body has a card number.
  const begun: RequestNotes = {
    id: request.id,
    providerMs: 0,
    ...(clientRequestId === undefined ? {} : { clientRequestId }),
  };
  notes.set(request, begun);
  return begun;
}

/** Of a request that a front door has handed on: its id there. */
export function takeRequestId(request: FastifyRequest, id: string): void {
  request.id = id;
  notesOf(request).id = id;
}

const clientRequestIdOf = (header: unknown): string | undefined =>
  typeof header === 'string' && mayBeKept(header) ? header : undefined;

/** Header of an answer to a front door, with what the front door cannot know of the request. */
export const requestNotesHeader = 'tollgate-request-notes';

export function encodeNotes(
  { caller, errorCode, providerMs }: RequestNotes,
  token: string | undefined,
): string {
  const fields = omitUndefined({ ...caller, token, errorCode, providerMs: String(providerMs) });
  return new URLSearchParams(fields as Record<string, string>).toString();
}

const text = z.string().optional();
const notesSchema = z.object({
  environment: text,
  team: text,
  keyId: text,
  token: text,
  errorCode: text,
  providerMs: z.coerce.number().min(0).catch(0),
});

/** Sent by an instance of a service; another release may send less. */
export function takeNotes(into: RequestNotes, header: unknown): void {
  if (typeof header !== 'string') return;
  const parsed = notesSchema.safeParse(Object.fromEntries(new URLSearchParams(header))).data;
  if (parsed === undefined) return;
  const { environment, team, keyId, token, errorCode, providerMs } = parsed;
  if (environment !== undefined && team !== undefined && keyId !== undefined)
    into.caller = { environment, team, keyId };
  Object.assign(into, omitUndefined({ token, errorCode }), { providerMs });
}
