/** The OpenAPI document, derived from the schemas that routes parse with, and from the described answers. */
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { answerSchemas } from './answers.ts';
import { type ErrorCode, errorPage, statedError } from './errors.ts';
import { queryFields, writtenForms } from './fields.ts';
import { type JsonObject, answerComponents, bodyComponents, writeReadably } from './openapi-schemas.ts';
import { webhooksDocument } from './webhooks-document.ts';
import { errorsOf } from './route-errors.ts';
import { bodySchemas, bodyValues } from './requests.ts';
import { type Route, routes, tags } from './routes.ts';

/** A route as OpenAPI names it. */
export interface Operation extends Omit<Route, 'method'> {
  id: string;
  method: 'get' | 'post' | 'patch' | 'delete';
  /** As OpenAPI writes it: `/api/v1/payments/{token}`. */
  path: string;
}

export const operations: readonly Operation[] = Object.entries<Route>(routes).map(([id, route]) => ({
  ...route,
  id,
  method: route.method.toLowerCase() as Operation['method'],
  path: route.url.replaceAll(/:(\w+)/g, '{$1}'),
}));

const description = `Tollgate speaks the Payment Service's own interface: the same paths, fields and errors. It adds:

- A creation, refund or payout repeated with the same \`Idempotency-Key\` is executed once.
- \`phase\` is more precise than \`status\`. 202 means that the outcome is not known yet.
- Every answer carries \`Request-Id\`; \`GET /api/v1/requests/{id}\` shows its outcome.
- Answers to commands carry \`Tollgate-Position\`. A read that sends it as \`Tollgate-Min-Position\` includes the effect of that command. Answers with payments, refunds and payouts carry it as well: a later read with it never shows an older state.

Fields may be added to answers at any time.

\`\`\`sh
curl -X POST "$TOLLGATE_URL/api/v1/payments" -H "Authorization: Bearer $TOLLGATE_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"product":"Tea","amount":1250,"currency":"EUR","orderNumber":"order-1"}'
\`\`\`

## Errors

Each error has a \`code\`, and its \`docUrl\` leads to [what it means, and whether to repeat the request](${errorPage}). Error codes
of the Payment Service are passed on unchanged.`;

export type OpenApiDocument = ReturnType<typeof createOpenApiDocument>;

export function createOpenApiDocument() {
  const paths: Record<string, Record<string, JsonObject>> = {};
  for (const operation of operations)
    (paths[operation.path] ??= {})[operation.method] = toOperation(operation);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate',
      version: '1',
      description,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: Object.entries(tags).map(([name, text]) => ({ name, description: text })),
    paths,
    webhooks: webhooksDocument(refTo),
    components: {
      schemas: { ...bodyComponents({ ...bodySchemas, ...bodyValues }), ...answerComponents(answerSchemas) },
      responses: responseComponents,
      headers: headerComponents,
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'tg_<environment>_<id>_<secret>',
          description:
            "Your team's API key, for one environment. Each call lists its scopes; the key needs one of them.",
        },
      },
    },
  };
}

function toOperation(operation: Operation): JsonObject {
  const { id, tag, summary, scopes, body } = operation;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: descriptionOf(operation),
    security: scopes === undefined ? [] : scopes.map((scope) => ({ apiKey: [scope] })),
    parameters: parametersOf(operation),
    ...(body === undefined
      ? {}
      : {
          requestBody: {
            required: body.isOptional !== true,
            content: { 'application/json': { schema: refTo(body.schema), example: body.example } },
          },
        }),
    responses: { ...answersOf(operation), ...errorAnswersOf(operation) },
  };
}

const refTo = (name: string) => ({ $ref: `#/components/schemas/${name}` });

function descriptionOf({ description: text, scopes, bound }: Operation): string {
  const isOfPersons = bound !== undefined;
  const needed = scopes
    ?.filter((scope) => isOfPersons || !scope.startsWith('operators:'))
    .map((scope) => `\`${scope}\``)
    .join(' or ');
  const who = `The ${isOfPersons ? 'person' : 'key'} needs the scope ${needed}`;
  const where = bound === 'installation' ? ' in all teams and environments' : '';
  const key = needed === undefined ? 'No key is needed.' : `${who}${where}.`;
  return text === undefined ? key : `${text}\n\n${key}`;
}

/** Printable ASCII, quoted or without a comma, and not empty; spaces around it get lost on the way. */
const idempotencyKeyPattern = '^(?!""$)("[ !#-~]+"|[!-+.-~-]([ -+.-~-]*[!-+.-~-])?)$';

/** The headers of requests, by the property of the route that asks for each. */
const requestHeaders = [
  [
    ...(['idempotencyKey', 'Idempotency-Key'] as const),
    'Makes the request idempotent. Printable ASCII, once; quote a key that contains a comma. Keys do not expire.',
    { minLength: 1, maxLength: 255, pattern: idempotencyKeyPattern },
  ],
  [
    ...(['minPosition', 'Tollgate-Min-Position'] as const),
    'The `Tollgate-Position` of an earlier answer. The read includes it: a list waits for it up to two seconds.',
    { pattern: String.raw`^\d[\d:/-]{0,63}$` },
  ],
  ['isTagged', 'If-None-Match', 'The `ETag` of an earlier answer: 304 if nothing has changed.', {}],
] as const;

function parametersOf(operation: Operation): JsonObject[] {
  const { path, query } = operation;
  const parameter = (name: string | undefined, place: string, required: boolean, schema: object) => ({
    name,
    in: place,
    required,
    schema: { type: 'string', ...schema },
  });
  return [
    ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) =>
      parameter(name, 'path', true, { pattern: '^[A-Za-z0-9_-]{1,128}$' }),
    ),
    ...(query === undefined ? [] : queryParametersOf(query)),
    ...requestHeaders
      .filter(([property]) => operation[property] !== undefined)
      .map(([property, name, description, schema]) => ({
        ...parameter(name, 'header', operation[property] === 'required', schema),
        description,
      })),
  ];
}

function queryParametersOf(schema: z.ZodType): JsonObject[] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: writeReadably,
  });
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    description: queryFields[name] ?? '',
    schema: writtenForms[name] ?? property,
    ...(name === 'currency' ? { example: 'EUR' } : {}),
  }));
}

/** By their names in the components; each is sent under its own name. */
const headers = {
  'Request-Id': 'Id of the request, in its record, in log lines and in the events that it caused.',
  'Tollgate-Position': "The position of the command's events in the event store.",
  'Shown-Position':
    'The position in the event store of the latest event that is shown; absent if nothing is shown. A read that sends it as `Tollgate-Min-Position` is at least as recent.',
  'Idempotent-Replayed': '`true` on a replay: the request was executed before, and not again.',
  'Retry-After': 'Seconds after which to repeat the request.',
  'WWW-Authenticate': '`Bearer`.',
  ETag: 'Strong validator of the body: it changes whenever the body does.',
} as const;
type HeaderName = keyof typeof headers;

const headerComponents = Object.fromEntries(
  Object.entries(headers).map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
);

const headersOf = (names: Partial<Record<HeaderName, boolean>>): JsonObject =>
  Object.fromEntries(
    Object.entries(names)
      .filter(([, isSent]) => isSent)
      .map(([name]) => [
        name === 'Shown-Position' ? 'Tollgate-Position' : name,
        { $ref: `#/components/headers/${name}` },
      ]),
  );

function answersOf({ answers, isCommand, idempotencyKey, tellsPosition, isTagged }: Operation): JsonObject {
  const sent = headersOf({
    'Request-Id': true,
    'Tollgate-Position': isCommand === true,
    'Shown-Position': tellsPosition === true,
    'Idempotent-Replayed': isCommand === true && idempotencyKey !== undefined,
    ETag: isTagged === true,
  });
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [
      status,
      { description: answer.meaning, headers: sent, ...contentOf(answer) },
    ]),
  );
}

function contentOf(answer: Operation['answers'][number]): JsonObject {
  if ('schema' in answer) return { content: { 'application/json': { schema: refTo(answer.schema) } } };
  if (!('type' in answer)) return {};
  const type = answer.type === 'application/json' ? 'object' : 'string';
  return { content: { [answer.type]: { schema: { type } } } };
}

/** By status. */
export const errorCodesOf = (operation: Operation): Readonly<Record<string, readonly ErrorCode[]>> => ({
  ...errorsOf(operation),
  // The server answers so before there is a route: the URL counts as a header.
  431: ['invalid_request'],
});

/** Answers that every call has alike, by status. */
const sharedErrors: Readonly<Record<string, string>> = { 408: 'Error408', 431: 'Error431', 500: 'Error500' };

function errorAnswersOf(operation: Operation): JsonObject {
  return Object.fromEntries(
    Object.entries(errorCodesOf(operation)).map(([status, codes]) => {
      const name = sharedErrors[status];
      const answer = toErrorAnswer(operation, Number(status), codes);
      const isShared = name !== undefined && isDeepStrictEqual(answer, responseComponents[name]);
      return [status, isShared ? { $ref: `#/components/responses/${name}` } : answer];
    }),
  );
}

function toErrorAnswer(
  { handsOnErrors, isCommand, idempotencyKey }: Operation,
  status: number,
  codes: readonly ErrorCode[],
): JsonObject {
  // The Payment Service chooses the codes of these refusals.
  const isHandedOn = handsOnErrors === true && (status === 400 || status === 409);
  const list = codes.map((code) => `\`${code}\``).join(', ');
  const mayBeRecorded = isCommand === true && [400, 409, 502, 503].includes(status);
  return {
    description: isHandedOn ? `${list}, or a code of the Payment Service` : list,
    headers: headersOf({
      'Request-Id': true,
      'Retry-After': codes.some((code) => statedError(code).retryAfterSeconds !== undefined),
      'WWW-Authenticate': status === 401,
      'Tollgate-Position': mayBeRecorded,
      'Idempotent-Replayed': mayBeRecorded && idempotencyKey !== undefined,
    }),
    content: { 'application/json': { schema: refTo('Errors') } },
  };
}

/** As a read of a team answers. */
const responseComponents: JsonObject = Object.fromEntries(
  Object.entries(errorCodesOf(operations.find(({ id }) => id === 'listPayments') as Operation)).flatMap(
    ([status, codes]) => {
      const name = sharedErrors[status];
      return name === undefined ? [] : [[name, toErrorAnswer({} as Operation, Number(status), codes)]];
    },
  ),
);
