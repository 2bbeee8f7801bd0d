/** The API reference: an overview, a page for each tag of the OpenAPI document, and one for its objects. */
import { type OpenApiDocument, errorPage } from '@tollgate/gateway-api/http';
import { type Html, html, once, trustedHtml } from '@tollgate/service-kit';
import { renderMarkdown } from '../markdown.ts';
import type { Page } from '../page.ts';
import {
  type Described,
  type OpenApiOperation,
  type Surroundings,
  errorLinks,
  errorsIn,
  json,
  paragraphsOf,
  renderOperation,
} from './operation.ts';
import { type Schemas, entry, fieldsOf, inlineOf, nameOf, typeOf } from './schema.ts';

const errorsPath = '../team/errors.html';

export function referencePages(document: OpenApiDocument): readonly Page[] {
  const described = [document.paths, document.webhooks].flatMap((paths) => describedIn(paths, document));
  const schemas = document.components.schemas as Schemas;
  const objects = objectsOf(schemas, described);
  const surroundings = {
    schemas,
    objects,
    errorPage: errorsPath,
    commonErrors: commonErrorsOf(described),
  };
  const tags = document.tags.map(({ name, description }) => ({
    path: `api/${name.toLowerCase()}.html`,
    name,
    description,
    operations: described.filter(({ operation }) => operation.tags[0] === name),
  }));
  return [
    {
      path: 'api/index.html',
      title: 'Overview',
      content: () => renderOverview(document, tags, surroundings),
    },
    ...tags.map((tag) => ({
      path: tag.path,
      title: tag.name,
      content: once(() => renderTag(tag, surroundings)),
    })),
    { path: 'api/objects.html', title: 'Objects', content: once(() => renderObjects(objects)) },
  ];
}

interface Tag {
  path: string;
  name: string;
  description: string;
  operations: readonly Described[];
}

const describedIn = (
  paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  document: OpenApiDocument,
): readonly Described[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method,
      path,
      operation: withResponses(operation as OpenApiOperation, document),
    })),
  );

/** Responses that several operations share are references in the document. */
function withResponses(operation: OpenApiOperation, { components }: OpenApiDocument): OpenApiOperation {
  const shared = components.responses as OpenApiOperation['responses'];
  const responses = Object.entries(operation.responses).map(([status, response]) => [
    status,
    response.$ref === undefined ? response : shared[nameOf(response.$ref)],
  ]);
  return { ...operation, responses: Object.fromEntries(responses) as OpenApiOperation['responses'] };
}

/** Returned by nearly every operation that needs a key, or that takes a body. */
function commonErrorsOf(described: readonly Described[]): ReadonlySet<string> {
  const operations = described
    .map(({ operation }) => operation)
    .filter(({ security }) => security.length > 0);
  const inMost = (some: readonly OpenApiOperation[]) => {
    const counts = Map.groupBy(some.flatMap(errorsIn), (error) => error);
    return [...counts].filter(([, found]) => found.length > 0.9 * some.length).map(([error]) => error);
  };
  const withBody = operations.filter(({ requestBody }) => requestBody !== undefined);
  return new Set([...inMost(operations), ...inMost(withBody)].toSorted());
}

function renderOverview(
  document: OpenApiDocument,
  tags: readonly Tag[],
  { commonErrors }: Surroundings,
): string {
  const description = renderMarkdown(document.info.description, (target) =>
    target === errorPage ? errorsPath : undefined,
  );
  return html`<h1 id="api-reference">API reference</h1>
    ${trustedHtml(description)}
    <dl>
      ${[...Map.groupBy(commonErrors, (error) => error.slice(0, 3))].map(([status, errors]) =>
        entry(status, undefined, errorLinks(errors, errorsPath)),
      )}
    </dl>
    <p>
      Any operation may return these errors, and they are not repeated below. For code generators:
      <a href="../openapi.json">openapi.json</a>, <a href="../asyncapi.json">asyncapi.json</a>.
    </p>
    <h2 id="headers">Headers of answers</h2>
    ${headersOf(document)} ${tags.map(summaryOf)}`.html;
}

function headersOf({ components }: OpenApiDocument): Html {
  const headers = components.headers as Readonly<Record<string, { description: string }>>;
  return html`<dl>
    ${Object.entries(headers)
      .filter(([name]) => name !== 'Shown-Position')
      .map(([name, { description }]) => entry(name, undefined, inlineOf(description)))}
  </dl>`;
}

const summaryOf = ({ name, path, description, operations }: Tag): Html =>
  html`<h2 id="${name.toLowerCase()}">${name}</h2>
    <p>${description}</p>
    <ul class="operations">
      ${operations.map(
        (each) =>
          html`<li>
            <b>${each.method.toUpperCase()}</b> <code>${each.path}</code>
            <a href="${path.slice('api/'.length)}#${each.operation.operationId}">${each.operation.summary}</a>
          </li>`,
      )}
    </ul>`;

function renderTag({ name, description, operations }: Tag, surroundings: Surroundings): string {
  const shared = sharedParagraphsOf(operations);
  return html`<h1 id="${name.toLowerCase()}">${name}</h1>
    <p>${description}</p>
    ${trustedHtml(renderMarkdown(shared.join('\n\n'), () => undefined))}
    ${operations.map((each) => renderOperation(each, surroundings, shared))}`.html;
}

/** Part of the description of every operation here. */
function sharedParagraphsOf(operations: readonly Described[]): readonly string[] {
  const [first, ...others] = operations.map(({ operation }) => paragraphsOf(operation));
  if (first === undefined || others.length === 0) return [];
  return first.filter((text) => others.every((paragraphs) => paragraphs.includes(text)));
}

/** All but the bodies of requests, which are shown with their operations. */
function objectsOf(schemas: Schemas, described: readonly Described[]): Schemas {
  const bodies = described
    .filter(({ path }) => path.startsWith('/'))
    .map(({ operation }) => nameOf(operation.requestBody?.content?.[json]?.schema.$ref ?? ''));
  return Object.fromEntries(Object.entries(schemas).filter(([name]) => !bodies.includes(name)));
}

const renderObjects = (objects: Schemas): string =>
  html`<h1 id="objects">Objects</h1>
    <p>What answers contain. A list of values may grow.</p>
    ${Object.entries(objects).map(
      ([name, schema]) =>
        html`<h2 id="${name}">${name}</h2>
          ${fieldsOf(schema, objects) ?? html`<p>${typeOf(schema)}</p>`}`,
    )}`.html;
