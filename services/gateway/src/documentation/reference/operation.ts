/** One operation of the OpenAPI document as HTML. */
import { type Html, html, trustedHtml } from '@tollgate/service-kit';
import { codeBlock, renderMarkdown } from '../markdown.ts';
import {
  type Schema,
  type Schemas,
  entry,
  exampleOf,
  fieldsOf,
  inlineOf,
  linkTo,
  nameOf,
  resolve,
  typeOf,
  writeExample,
} from './schema.ts';

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

export interface Described {
  method: string;
  /** The name of a webhook has no slash. */
  path: string;
  operation: OpenApiOperation;
}

export const json = 'application/json';

export interface Surroundings {
  schemas: Schemas;
  /** Names with an entry on the page of objects. */
  objects: Schemas;
  /** Path to the error codes, from the page of the operation. */
  errorPage: string;
  /** Returned by any operation, and so not listed with each: `409 code`. */
  commonErrors: ReadonlySet<string>;
}

/** @param shared paragraphs that the page shows once for all of its operations */
export function renderOperation(
  { method, path, operation }: Described,
  surroundings: Surroundings,
  shared: readonly string[],
): Html {
  const { operationId, summary } = operation;
  const paragraphs = paragraphsOf(operation).filter((text) => !shared.includes(text));
  const isWebhook = !path.startsWith('/');
  return html`<section>
    <h2 id="${operationId}">${summary}</h2>
    <p class="call"><b>${method.toUpperCase()}</b> <code>${path}</code></p>
    ${trustedHtml(renderMarkdown(paragraphs.join('\n\n'), () => undefined))}
    ${isWebhook ? undefined : codeBlock(curlOf(method, path, operation, surroundings))}
    ${parametersOf(operation)} ${bodyOf(operation, surroundings, isWebhook)}
    ${answersOf(operation, surroundings)} ${errorsOf(operation, surroundings)}
  </section>`;
}

export const paragraphsOf = ({ description }: OpenApiOperation): readonly string[] =>
  description.split('\n\n');

function parametersOf({ parameters = [] }: OpenApiOperation): Html | undefined {
  if (parameters.length === 0) return undefined;
  return html`<h3>Parameters</h3>
    <dl>
      ${parameters.map(({ name, in: place, required, description, schema }) =>
        entry(name, html`${place}, ${typeOf(schema)}${required ? '' : ', optional'}`, inlineOf(description)),
      )}
    </dl>`;
}

function bodyOf(
  { requestBody }: OpenApiOperation,
  { schemas, objects }: Surroundings,
  isWebhook: boolean,
): Html | undefined {
  const content = requestBody?.content?.[json];
  if (content === undefined) return undefined;
  const { schema, example } = content;
  return html`<h3>Body</h3>
    ${fieldsOf(resolve(schema, schemas), objects)}
    ${isWebhook ? exampleBlock(example ?? exampleOf(schema, schemas)) : undefined}`;
}

const exampleBlock = (value: unknown): Html => codeBlock(writeExample(value));

/** A call that a shell with `TOLLGATE_URL` and `TOLLGATE_KEY` can run. */
export function curlOf(
  method: string,
  path: string,
  { parameters = [], requestBody, security }: OpenApiOperation,
  { schemas }: Pick<Surroundings, 'schemas'>,
): string {
  const required = parameters.filter((parameter) => parameter.required);
  const query = required.filter((parameter) => parameter.in === 'query');
  const search = query.map(
    ({ name, example, schema }) => `${name}=${String(example ?? exampleOf(schema, schemas))}`,
  );
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

function answersOf({ responses }: OpenApiOperation, { schemas }: Surroundings): Html {
  const answers = Object.entries(responses).filter(
    ([status, { content }]) => !isError(status) || content === undefined,
  );
  const schema = answers.find(([status]) => status.startsWith('2'))?.[1].content?.[json]?.schema;
  return html`<h3>Answers</h3>
    <dl>${answers.map(([status, response]) => answerOf(status, response))}</dl>
    ${schema?.$ref === undefined ? undefined : exampleBlock(exampleOf(schema, schemas))}`;
}

function answerOf(status: string, { description, content, headers = {} }: Response): Html {
  const schema = content?.[json]?.schema;
  const [type] = Object.keys(content ?? {});
  const form = schema?.$ref === undefined ? type : linkTo(nameOf(schema.$ref));
  const names = Object.keys(headers).filter((name) => name !== 'Request-Id');
  const sent = names.length === 0 ? undefined : html` <small>${names.join(', ')}</small>`;
  return entry(status, html`${form}`, html`${inlineOf(description)}${sent}`);
}

/** `409 code` for each error of an operation. */
export const errorsIn = ({ responses }: OpenApiOperation): readonly string[] =>
  Object.entries(responses)
    .filter(([status]) => isError(status))
    .flatMap(([status, { description }]) =>
      [...description.matchAll(/`([a-z_]+)`/g)].map(([, code]) => `${status} ${code}`),
    );

function errorsOf(operation: OpenApiOperation, { commonErrors, errorPage }: Surroundings): Html | undefined {
  const own = errorsIn(operation).filter((error) => !commonErrors.has(error));
  if (own.length === 0) return undefined;
  const byStatus = Map.groupBy(own, (error) => error.slice(0, 3));
  return html`<h3>Errors</h3>
    <dl>
      ${[...byStatus].map(([status, errors]) => entry(status, undefined, errorLinks(errors, errorPage)))}
    </dl>`;
}

export const errorLinks = (errors: readonly string[], errorPage: string): Html =>
  html`${errors.map((error, index) => {
    const code = error.slice('409 '.length);
    return html`${index === 0 ? '' : ', '}<a href="${errorPage}#${code}">${code}</a>`;
  })}`;
