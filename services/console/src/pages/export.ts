/** File downloads from the API. */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { errorText } from '../components/notice.ts';
import { type ConsoleKit, admit, protect, send } from '../page.ts';
import { texts } from '../texts.ts';
import { failurePage } from './failure.ts';

export function addFile(app: FastifyInstance, kit: ConsoleKit, name: string): void {
  const asFile = (reply: FastifyReply, disposition: string): FastifyReply =>
    protect(reply).type('text/csv; charset=utf-8; header=present').header('content-disposition', disposition);
  app.get(`/console/${name}`, async (request, reply) => {
    const session = await admit(kit, request, reply);
    if (session === undefined) return reply;
    // A program requests the headers before the file.
    if (request.method === 'HEAD')
      return asFile(reply, `attachment; filename="${name}"`).send(Readable.from([]));
    const asked = new URLSearchParams(request.url.split('?', 2)[1] ?? '');
    const left = untilLeft(reply);
    const answer = await kit
      .apiOf(session, request.ip)
      .download(`/api/v1/admin/${name}?${asked.toString()}`, left)
      .catch((error: unknown) => {
        if (left.aborted) return undefined;
        throw error;
      });
    if (answer === undefined) return reply.hijack();
    if (answer.kind === 'refused') {
      const { status, errors, requestId } = answer;
      const page = failurePage(status, texts.errors.title, errorText(errors), requestId);
      return send(kit, request, reply, page, session);
    }
    reply.raw.setTimeout(kit.exportStalledMs, () => reply.raw.destroy());
    return asFile(reply, answer.body.disposition).send(answer.body.stream);
  });
}

/** Aborted when the answer is complete, or the browser has disconnected. */
function untilLeft({ raw }: FastifyReply): AbortSignal {
  const left = new AbortController();
  raw.once('close', () => left.abort());
  return left.signal;
}
