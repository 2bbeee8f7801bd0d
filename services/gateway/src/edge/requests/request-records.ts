/**
 * Reports completed requests, in batches, to other processes that list them: a front door to each instance of the query
 * service, and a gateway to the others. Each batch is sent once and no request waits for it, so a process that is down
 * misses the requests of that time.
 */
import { type RequestRecord, recordsPerMessageMax, requestRecordsSchema } from '@tollgate/requests';
import { sendError } from '@tollgate/gateway-api/http';
import type { Clock, Log } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import { Agent } from 'undici';
import { type InternalCredential, internalCredentialHeader } from '../internal-credential.ts';

const path = '/internal/requests';
const bodyBytesMax = 512 * 1024;

/** The route of a process that lists requests. */
export function registerRequestRecords(app: FastifyInstance, note: (record: RequestRecord) => void): void {
  app.post(path, { bodyLimit: bodyBytesMax }, async (request, reply) => {
    const records = requestRecordsSchema.safeParse(request.body);
    if (!records.success) return sendError(reply, 'invalid_param', { parameter: 'body' });
    for (const record of records.data) note(record);
    return reply.code(202).send({ success: true });
  });
}

/** How long a record waits for others to be sent with it. */
const sendAfterMs = 200;
/** Maximum waiting records; more are dropped. */
const waitingMax = 10_000;
const answerWithinMs = 2_000;

/** @param upstreams origins of the processes that list requests */
export function createRequestRecords({
  upstreams,
  credential,
  clock,
  log,
}: {
  upstreams: () => readonly string[];
  credential: Pick<InternalCredential, 'sign'>;
  clock: Pick<Clock, 'after'>;
  log: Log;
}) {
  const timeouts = { headersTimeout: answerWithinMs, bodyTimeout: answerWithinMs };
  const agent = new Agent({ connect: { timeout: answerWithinMs }, ...timeouts });
  const waiting: RequestRecord[] = [];
  let sending: Promise<void> | undefined;
  let cancel: (() => void) | undefined;

  async function deliver(origin: string, body: string): Promise<void> {
    try {
      const headers = {
        'content-type': 'application/json',
        [internalCredentialHeader]: credential.sign('POST', path),
      };
      const { statusCode, body: answer } = await agent.request({
        origin,
        path,
        method: 'POST',
        headers,
        body,
      });
      await answer.dump();
      if (statusCode !== 202) log.debug({ url: origin, statusCode }, 'records of requests were refused');
    } catch (error) {
      log.debug({ error, url: origin }, 'records of requests could not be reported');
    }
  }

  /** In sequence, so that an instance that hangs blocks a bounded number of messages. */
  async function sendWaiting(): Promise<void> {
    while (waiting.length > 0) {
      const body = JSON.stringify(waiting.splice(0, recordsPerMessageMax));
      await Promise.all(upstreams().map((origin) => deliver(origin, body)));
    }
  }

  function send(): Promise<void> {
    cancel = undefined;
    return (sending ??= sendWaiting().finally(() => (sending = undefined)));
  }

  return {
    /** Never throws and does not wait. */
    note(record: RequestRecord): void {
      if (waiting.length >= waitingMax || upstreams().length === 0) return;
      waiting.push(record);
      cancel ??= clock.after(sendAfterMs, () => void send());
    },
    /** Sends waiting records. */
    async close(): Promise<void> {
      cancel?.();
      await send();
      await agent.close();
    },
  };
}
