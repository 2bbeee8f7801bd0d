/**
 * Hints to the command service that a payment of unknown outcome was read, so that it inquires at once instead of on its
 * schedule. A lost hint costs some seconds and nothing else: it is sent once, and no request waits for it.
 */
import { isToken } from '@tollgate/teams';
import { sendError } from '@tollgate/gateway-api/http';
import type { Log } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { InternalCredential } from './internal-credential.ts';
import { createInternalPost } from './internal-post.ts';

const path = '/internal/inquiries';

/** Token of a payment or payout. */
const hintSchema = z.strictObject({ token: z.string().refine(isToken) });
const bodyBytesMax = 1_024;

/** Hints on their way; more at once are left to the schedule. */
const underWayMax = 64;
const answerWithinMs = 1_000;

/** The command service's route: accepts hints and answers before it inquires. */
export function registerInquiryHints(app: FastifyInstance, inquireForReader: (token: string) => void): void {
  app.post(path, { bodyLimit: bodyBytesMax }, async (request, reply) => {
    const hint = hintSchema.safeParse(request.body);
    if (!hint.success)
      return sendError(reply, 'invalid_param', {
        message: 'token must be that of a payment or payout.',
        parameter: 'token',
      });
    inquireForReader(hint.data.token);
    return reply.code(202).send({ success: true });
  });
}

export interface InquiryHints {
  /** Never throws and does not wait. */
  send(token: string): void;
  /** Aborts hints in flight. */
  close(): Promise<void>;
}

/** Of the query service. @param upstreams the instances of the command service */
export function createInquiryHints({
  upstreams,
  credential,
  log,
}: {
  upstreams: readonly string[];
  credential: Pick<InternalCredential, 'sign'>;
  log: Log;
}): InquiryHints {
  const post = createInternalPost(path, { credential, answerWithinMs });
  let underWay = 0;

  async function deliver(token: string): Promise<void> {
    for (const origin of inTurn(upstreams, token)) {
      try {
        const { isAccepted, statusCode } = await post.send(origin, JSON.stringify({ token }));
        if (isAccepted) return;
        log.warn({ token, url: origin, statusCode }, 'an inquiry hint was refused');
      } catch (error) {
        log.debug({ error, token, url: origin }, 'an inquiry hint was not accepted');
      }
    }
  }

  return {
    send(token) {
      if (underWay >= underWayMax) return;
      underWay += 1;
      void deliver(token).finally(() => (underWay -= 1));
    },
    close: () => post.abort(),
  };
}

/** Each instance limits its inquiries of one payment, so all hints of a payment go to one instance, or else to another. */
function inTurn(upstreams: readonly string[], token: string): readonly string[] {
  const sum = Buffer.from(token).reduce((total, byte) => total + byte, 0);
  const first = sum % upstreams.length;
  return [...upstreams.slice(first), ...upstreams.slice(0, first)];
}
