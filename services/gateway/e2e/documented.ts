/** Checks answers of the running system against the OpenAPI document. */
import { expect } from 'vitest';
import {
  answerSchemas,
  apiErrors,
  createOpenApiDocument,
  errorCodesOf,
  operations,
} from '@tollgate/gateway-api/http';
import type { Answer, CallGateway } from './system.ts';

const document = createOpenApiDocument();

/** Headers that a client may rely on; the others are HTTP's own affair. */
const ourHeaders =
  /^(tollgate-.*|idempotent-replayed|retry-after|www-authenticate|etag|ratelimit.*|x-(?!content-type-options$).*)$/;

interface DocumentedAnswer {
  description: string;
  headers: Record<string, unknown>;
}

const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);

function operationOf(method: string, url: string) {
  const path = url.split('?')[0] ?? '';
  const isExact = operations.find((each) => each.path === path && each.method === method);
  const operation =
    isExact ?? operations.find((each) => each.method === method && patternOf(each.path).test(path));
  if (operation === undefined) throw new Error(`${method} ${path} is not in the document`);
  return operation;
}

/** Fails if the status, a header, a field or an error code of an answer is not in the document. @returns `id status` */
export function expectDocumented(method: string, url: string, { statusCode, headers, body }: Answer): string {
  const operation = operationOf(method.toLowerCase(), url);
  const where = `${operation.id} ${statusCode}`;
  const responses = document.paths[operation.path]?.[operation.method]?.['responses'];
  const stated = (responses as Record<number, DocumentedAnswer & { $ref?: string }>)[statusCode];
  const shared = stated?.$ref?.replace('#/components/responses/', '');
  const response =
    shared === undefined ? stated : (document.components.responses[shared] as DocumentedAnswer);
  if (response === undefined) throw new Error(`${where} is not in the document: ${JSON.stringify(body)}`);
  const documented = Object.keys(response.headers).map((name) => name.toLowerCase());
  const had = Object.keys(headers).filter((name) => ourHeaders.test(name));
  expect(documented, where).toEqual(expect.arrayContaining(had));
  const answer = operation.answers[statusCode];
  const schema = answer === undefined ? 'Errors' : 'schema' in answer ? answer.schema : undefined;
  if (answer !== undefined && !('schema' in answer) && !('type' in answer)) expect(body, where).toBe('');
  if (schema === undefined) return where;
  const parsed = answerSchemas[schema].safeParse(body);
  expect(parsed.error?.issues, `${where} ${JSON.stringify(body)}`).toBeUndefined();
  // Parsing drops fields that the schema does not have.
  expect(body, where).toEqual(parsed.data);
  if (schema !== 'Errors') return where;
  const codes = errorCodesOf(operation)[statusCode];
  const isHandedOn = response.description.endsWith('a code of the Payment Service');
  for (const { code } of body.errors)
    if (!isHandedOn || Object.hasOwn(apiErrors, code)) expect(codes, where).toContain(code);
  return where;
}

/** Checks every call against the document; `seen` collects the answers. */
export const documentedGateway =
  (gateway: CallGateway, seen: Set<string>): CallGateway =>
  async (...call) => {
    const answer = await gateway(...call);
    seen.add(expectDocumented(call[0], call[1], answer));
    return answer;
  };
