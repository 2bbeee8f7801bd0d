/** The file of a team's payments, as the API gives it. */
import type { FastifyInstance } from 'fastify';
import { type ConsoleKit, protect, send } from '../page.ts';
import { texts } from '../texts.ts';
import { failurePage, signInFirstPage } from './failure.ts';

export function exportPayments(app: FastifyInstance, kit: ConsoleKit): void {
  app.get('/console/payments.csv', async (request, reply) => {
    const session = kit.sessions.of(request);
    if (session === undefined) return send(kit, request, reply, signInFirstPage(kit.organisation));
    const asked = new URLSearchParams(request.url.split('?', 2)[1] ?? '');
    const within = { team: asked.get('team') ?? '', environment: asked.get('environment') ?? '' };
    for (const name of Object.keys(within)) asked.delete(name);
    const path = `/api/v1/payments.csv?${asked.toString()}`;
    const answer = await kit.apiOf(session, request.ip).download(path, within);
    if (answer.kind === 'refused')
      return send(
        kit,
        request,
        reply,
        failurePage(answer.status, texts.errors.title, texts.errors.unavailable),
      );
    return protect(reply)
      .type('text/csv; charset=utf-8; header=present')
      .header('content-disposition', 'attachment; filename="payments.csv"')
      .header('cache-control', 'no-store')
      .send(answer.body);
  });
}
