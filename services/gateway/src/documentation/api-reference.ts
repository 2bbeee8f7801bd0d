/** The API reference as Markdown: an overview, a page for each tag of the OpenAPI document, and one for its objects. */
import { type OpenApiDocument, type Schema, errorPage } from '@tollgate/gateway-api/http';
import { once } from '@tollgate/service-kit';
import { exampleOf, writeExample } from './example.ts';
import { renderMarkdown } from './markdown.ts';
import { type Schemas, fieldsOf, item, nameOf, resolve, typeOf } from './schema.ts';
import type { Page } from './page.ts';

interface Parameter {
  name: string;
  in: string;
  required: boolean;
  description?: string;
  example?: unknown;
  schema: Schema;
}

interface Body {
  content?: Readonly<Record<string, { schema: Schema; example?: unknown } | undefined>>;
}

interface Response extends Body {
  $ref?: string;
  description: string;
  headers?: Readonly<Record<string, unknown>>;
}

export interface OpenApiOperation {
  operationId: string;
  tags: readonly string[];
  summary: string;
  description: string;
  security: readonly unknown[];
  parameters?: readonly Parameter[];
  requestBody?: Body & { required: boolean };
  responses: Readonly<Record<string, Response>>;
}

interface Described extends OpenApiOperation {
  method: string;
  /** The name of a webhook has no slash. */
  path: string;
}

const json = 'application/json';
const errorsPath = '../team/errors.html';

export function referencePages(document: OpenApiDocument): readonly Page[] {
  const described = [document.paths, document.webhooks].flatMap((paths) => describedIn(paths, document));
  const schemas = document.components.schemas as Schemas;
  // The bodies of requests are shown with their operations.
  const bodies = described
    .filter(({ path }) => path.startsWith('/'))
    .map(({ requestBody }) => nameOf(requestBody?.content?.[json]?.schema.$ref ?? ''));
  const objects = Object.fromEntries(Object.entries(schemas).filter(([name]) => !bodies.includes(name)));
  const commonErrors = commonErrorsOf(described);
  const tags = document.tags.map(({ name, description }) => ({
    name,
    description,
    file: `${name.toLowerCase()}.html`,
    operations: described.filter((operation) => operation.tags[0] === name),
  }));
  const page = (file: string, title: string, write: () => string): Page => ({
    path: `api/${file}`,
    title,
    content: once(() => renderMarkdown(write(), addressOf)),
  });
  return [
    page('index.html', 'Overview', () => writeOverview(document, tags, commonErrors)),
    ...tags.map((tag) => page(tag.file, tag.name, () => writeTag(tag, { schemas, commonErrors }))),
    page('objects.html', 'Objects', () => writeObjects(objects)),
  ];
}

/** Only our own links lead anywhere: those of descriptions are for readers of the document. */
function addressOf(target: string): string | undefined {
  if (target === errorPage) return errorsPath;
  return /^(\.\.\/)?[a-z]+(\/[a-z]+)?\.(html|json)/.test(target) ? target : undefined;
}

/** Responses that several operations share are references in the document. */
const describedIn = (
  paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  { components }: OpenApiDocument,
): readonly Described[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => {
      const shared = components.responses as OpenApiOperation['responses'];
      const { responses, ...others } = operation as OpenApiOperation;
      const resolved = Object.entries(responses).map(([status, response]) => [
        status,
        response.$ref === undefined ? response : shared[nameOf(response.$ref)],
      ]);
      return { ...others, method, path, responses: Object.fromEntries(resolved) as typeof responses };
    }),
  );

/** Returned by nearly every operation that needs a key, or that takes a body: `409 code`. */
function commonErrorsOf(described: readonly Described[]): ReadonlySet<string> {
  const operations = described.filter(({ security }) => security.length > 0);
  const inMost = (some: readonly Described[]) => {
    const counts = Map.groupBy(some.flatMap(errorsIn), (error) => error);
    return [...counts].filter(([, found]) => found.length > 0.9 * some.length).map(([error]) => error);
  };
  const withBody = operations.filter(({ requestBody }) => requestBody !== undefined);
  return new Set([...inMost(operations), ...inMost(withBody)].toSorted());
}

interface Tag {
  name: string;
  description: string;
  file: string;
  operations: readonly Described[];
}

function writeOverview(
  { info, components }: OpenApiDocument,
  tags: readonly Tag[],
  commonErrors: ReadonlySet<string>,
): string {
  const headers = Object.entries(components.headers as Readonly<Record<string, { description: string }>>);
  return [
    '# API reference',
    info.description,
    errorItems([...commonErrors]),
    'Any operation may return these errors, and they are not repeated below. For code generators: [openapi.json](../openapi.json), [asyncapi.json](../asyncapi.json).',
    '## Headers of answers',
    headers
      .filter(([name]) => name !== 'Shown-Position')
      .map(([name, { description }]) => item(name, '', description))
      .join('\n'),
    ...tags.flatMap(({ name, file, description, operations }) => [
      `## ${name}`,
      description,
      operations
        .map(
          ({ method, path, operationId, summary }) =>
            `- **${method.toUpperCase()}** \`${path}\` [${summary}](${file}#${operationId})`,
        )
        .join('\n'),
    ]),
  ].join('\n\n');
}

interface Surroundings {
  schemas: Schemas;
  commonErrors: ReadonlySet<string>;
}

function writeTag({ name, description, operations }: Tag, surroundings: Surroundings): string {
  // Paragraphs of every operation here are written once.
  const [first = [], ...others] = operations.map((operation) => operation.description.split('\n\n'));
  const shared = others.length === 0 ? [] : first.filter((text) => others.every((all) => all.includes(text)));
  const sections = operations.map((each) => writeOperation(each, surroundings, shared));
  return [`# ${name}`, description, ...shared, ...sections].join('\n\n');
}

function writeOperation(
  operation: Described,
  { schemas, commonErrors }: Surroundings,
  shared: readonly string[],
): string {
  const { operationId, summary, description, method, path, parameters = [], requestBody } = operation;
  const isWebhook = !path.startsWith('/');
  const body = requestBody?.content?.[json];
  const answers = Object.entries(operation.responses).filter(
    ([status, { content }]) => !isError(status) || content === undefined,
  );
  const answered = answers.find(([status]) => status.startsWith('2'))?.[1].content?.[json]?.schema;
  const errors = errorsIn(operation).filter((error) => !commonErrors.has(error));
  return [
    `<h2 id="${operationId}">${summary}</h2>`,
    `**${method.toUpperCase()}** \`${path}\``,
    ...description.split('\n\n').filter((text) => !shared.includes(text)),
    isWebhook ? '' : fenced(curlOf(operation, schemas)),
    section(
      'Parameters',
      parameters.map(({ name, in: place, required, description: text, schema }) =>
        item(name, `${place}, ${typeOf(schema)}${required ? '' : ', optional'}`, text),
      ),
    ),
    section('Body', body === undefined ? [] : [fieldsOf(resolve(body.schema, schemas))]),
    isWebhook && body !== undefined
      ? fenced(writeExample(body.example ?? exampleOf(body.schema, schemas)))
      : '',
    section('Answers', answers.map(answerOf)),
    answered?.$ref === undefined ? '' : fenced(writeExample(exampleOf(answered, schemas))),
    section('Errors', errors.length === 0 ? [] : [errorItems(errors)]),
  ]
    .filter((part) => part !== '')
    .join('\n\n');
}

const section = (title: string, items: readonly string[]): string =>
  items.length === 0 ? '' : `<h3>${title}</h3>\n\n${items.join('\n')}`;

const fenced = (code: string): string => `\`\`\`\n${code}\n\`\`\``;

function answerOf([status, { description, content, headers = {} }]: [string, Response]): string {
  const schema = content?.[json]?.schema;
  const [type = ''] = Object.keys(content ?? {});
  const names = Object.keys(headers).filter((name) => name !== 'Request-Id');
  const sent = names.length === 0 ? '' : ` (${names.join(', ')})`;
  return item(status, schema?.$ref === undefined ? type : typeOf(schema), `${description}${sent}`);
}

/** A call that a shell with `TOLLGATE_URL` and `TOLLGATE_KEY` can run. */
export function curlOf(
  {
    method,
    path,
    parameters = [],
    requestBody,
    security,
  }: Pick<Described, 'method' | 'path' | 'parameters' | 'requestBody' | 'security'>,
  schemas: Schemas,
): string {
  const required = parameters.filter((parameter) => parameter.required);
  const search = required
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, example, schema }) => `${name}=${String(example ?? exampleOf(schema, schemas))}`);
  const url = `$TOLLGATE_URL${path.replaceAll(/\{(\w+)\}/g, '<$1>')}${search.length === 0 ? '' : `?${search.join('&')}`}`;
  const content = requestBody?.content?.[json];
  const body = content && JSON.stringify(content.example ?? exampleOf(content.schema, schemas));
  const lines = [
    `curl ${method === 'get' ? '' : `-X ${method.toUpperCase()} `}"${url}"`,
    security.length > 0 && '-H "Authorization: Bearer $TOLLGATE_KEY"',
    ...required.filter((parameter) => parameter.in === 'header').map(({ name }) => `-H '${name}: <${name}>'`),
    body !== undefined && `-H 'Content-Type: ${json}'`,
    body !== undefined && `-d '${body.replaceAll("'", String.raw`'\''`)}'`,
  ];
  return lines.filter((line) => line !== false).join(' \\\n  ');
}

const isError = (status: string): boolean => /^[45]/.test(status);

const errorsIn = ({ responses }: OpenApiOperation): readonly string[] =>
  Object.entries(responses)
    .filter(([status]) => isError(status))
    .flatMap(([status, { description }]) =>
      [...description.matchAll(/`([a-z_]+)`/g)].map(([, code]) => `${status} ${code}`),
    );

const errorItems = (errors: readonly string[]): string =>
  [...Map.groupBy(errors, (error) => error.slice(0, 3))]
    .map(([status, some]) => {
      const codes = some.map((error) => error.slice('409 '.length));
      return item(status, '', codes.map((code) => `[${code}](${errorsPath}#${code})`).join(', '));
    })
    .join('\n');

const writeObjects = (objects: Schemas): string =>
  [
    '# Objects',
    'What answers contain. A list of values may grow.',
    ...Object.entries(objects).map(
      ([name, schema]) => `<h2 id="${name}">${name}</h2>\n\n${fieldsOf(schema) || typeOf(schema)}`,
    ),
  ].join('\n\n');
