/** The interface as a document for programs, and the documentation site. Neither needs a key: they contain no secrets. */
import { errorPage } from '@tollgate/gateway-api/http';
import { once } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import { pagePolicy } from '../../documentation/page.ts';
import { contentTypeOf, createSite, openApiDocument } from '../../documentation/site.ts';

// They do not change while a process runs, however many servers it has.
const documentText = once(() => JSON.stringify(openApiDocument()));
const site = once(createSite);
const made = new Map<string, string>();

async function contentOf(path: string): Promise<string | undefined> {
  const known = made.get(path);
  if (known !== undefined) return known;
  const content = await site().get(path)?.();
  if (content !== undefined) made.set(path, content);
  return content;
}

/** `GET /openapi.json`, `GET /docs`, `GET /docs/errors`, and the files of the site below `/docs/`. */
export async function registerDocumentation(app: FastifyInstance): Promise<void> {
  app.get('/openapi.json', async (_request, reply) =>
    reply.type(contentTypeOf('openapi.json')).send(documentText()),
  );
  // Relative, so that they work behind a proxy that adds a prefix. Browsers keep the anchor of the error code.
  app.get('/docs', async (_request, reply) => reply.redirect('docs/'));
  app.get(errorPage, async (_request, reply) => reply.redirect('team/errors.html'));
  app.get<{ Params: { '*': string } }>('/docs/*', async (request, reply) => {
    const path = request.params['*'] || 'index.html';
    const content = await contentOf(path);
    if (content === undefined) {
      reply.callNotFound();
      return reply;
    }
    return reply.header('content-security-policy', pagePolicy).type(contentTypeOf(path)).send(content);
  });
}
