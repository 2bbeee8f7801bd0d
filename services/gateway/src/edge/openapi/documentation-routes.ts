/** The interface as a document for programs, and as a page for people. Neither takes a key: they hold nobody's secrets. */
import { fastifySwagger } from '@fastify/swagger';
import { fastifySwaggerUi } from '@fastify/swagger-ui';
import { once } from '@tollgate/service-kit';
import type { FastifyInstance } from 'fastify';
import { createOpenApiDocument, errorPage } from '@tollgate/gateway-api/http';
import { createErrorPage, errorPagePolicy } from './error-page.ts';

/** Nothing comes from elsewhere, nothing goes elsewhere, and nobody frames the page. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "connect-src 'self'",
  // The page sets colours and sizes on its elements as it is built.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
].join('; ');

/** The bar would offer to load other documents, which the policy forbids; and on a phone no table is wider than the page. */
const style = `.swagger-ui .topbar { display: none; }
.swagger-ui .info .markdown, .swagger-ui .info .renderedMarkdown { overflow-x: auto; }
.swagger-ui .opblock-body, .swagger-ui .responses-inner, .swagger-ui .model-box { overflow-x: auto; }
.swagger-ui .models .model-container { overflow-x: auto; }
`;

// None changes while a process runs, however many servers it has.
const document = once(createOpenApiDocument);
const documentText = once(() => JSON.stringify(document()));
const errorReference = once(createErrorPage);

/** `GET /openapi.json`, `GET /docs`, `GET /docs/errors`. */
export async function registerDocumentation(app: FastifyInstance): Promise<void> {
  app.get('/openapi.json', async (_request, reply) =>
    reply.type('application/json; charset=utf-8').send(documentText()),
  );
  app.get(errorPage, async (_request, reply) =>
    reply
      .headers({ 'content-security-policy': errorPagePolicy })
      .type('text/html; charset=utf-8')
      .send(errorReference()),
  );
  await app.register(fastifySwagger, {
    mode: 'static',
    specification: { document: document() as unknown as OpenApi },
  });
  await app.register(async (page) => {
    page.addHook('onSend', async (_request, reply, payload) =>
      String(reply.getHeader('content-type')).startsWith('text/html') ? withViewport(payload) : payload,
    );
    await page.register(fastifySwaggerUi, {
      routePrefix: '/docs',
      staticCSP: contentSecurityPolicy,
      // Without it the page would send the document to somebody else's validator.
      uiConfig: { validatorUrl: null, docExpansion: 'list', persistAuthorization: false },
      theme: { title: 'Tollgate API', css: [{ filename: 'tollgate.css', content: style }] },
    });
  });
}

/** The package has no setting for it, and a phone would show the page as wide as a desk. */
const withViewport = (payload: unknown): unknown =>
  typeof payload === 'string'
    ? payload.replace('<head>', '<head><meta name="viewport" content="width=device-width, initial-scale=1">')
    : payload;

/** The package's type knows OpenAPI 3.1 by a library that we do not have. */
type OpenApi = Extract<
  Parameters<typeof fastifySwagger>[1],
  { mode: 'static'; specification: { document: unknown } }
>['specification']['document'];
