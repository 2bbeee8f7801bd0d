/** The OpenAPI document, derived from the schemas that routes parse with, and from the described answers. */
import { currencySchema, isVisibleText, visibleTextPattern } from '@tollgate/payment-api/values';
import { z } from 'zod';
import { answerSchemas } from './answers.ts';
import { errorEntry, explained } from './error-answers.ts';
import { type ErrorCode, errorPage, statedError } from './errors.ts';
import { bodyFields, queryFields } from './fields.ts';
import { webhooksDocument } from './webhooks-document.ts';
import { type Route, bodySchemas, errorsOf, routes, tags } from './routes.ts';

/** A route as OpenAPI names it. */
export interface Operation extends Omit<Route, 'method'> {
  id: string;
  method: 'get' | 'post' | 'patch' | 'delete';
  /** As OpenAPI writes it: `/api/v1/payments/{token}`. */
  path: string;
}

export const operations: readonly Operation[] = Object.entries<Route>(routes).map(([id, route]) => ({
  ...route,
  ...{
    id,
    method: route.method.toLowerCase() as Operation['method'],
    path: route.url.replaceAll(/:(\w+)/g, '{$1}'),
  },
}));

type JsonObject = Record<string, unknown>;

export interface OpenApiDocument {
  openapi: '3.1.0';
  info: {
    title: string;
    version: string;
    description: string;
    license: { name: string; identifier: string };
  };
  servers: { url: string }[];
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, JsonObject>>;
  webhooks: Record<string, JsonObject>;
  components: { schemas: Record<string, JsonObject>; securitySchemes: JsonObject };
}

const description = `Tollgate speaks the Payment Service's own interface: the same paths, fields and errors. It adds:

- A creation, refund or payout repeated with the same \`Idempotency-Key\` is carried out once.
- \`phase\` is more precise than \`status\`. 202 means that the outcome is not known yet; the gateway finds it out.
- Every answer carries \`Request-Id\`; \`GET /api/v1/requests/{id}\` shows what became of the request.
- Answers to commands carry \`Tollgate-Position\`. A read that sends it as \`Tollgate-Min-Position\` includes the effect of that command. Payments, refunds and payouts carry it, too: a read that sends it shows none of what they showed as it was before.

Fields may be added to answers at any time.

\`\`\`sh
curl -X POST "$TOLLGATE_URL/api/v1/payments" -H "Authorization: Bearer $TOLLGATE_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"product":"Tea","amount":1250,"currency":"EUR","orderNumber":"order-1"}'
\`\`\`

## Errors

Each error has a \`code\`, and its \`docUrl\` leads to [what it means, and whether to repeat the request](${errorPage}). Error codes
of the Payment Service are passed on unchanged.`;

export function createOpenApiDocument(): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {};
  for (const operation of operations)
    (paths[operation.path] ??= {})[operation.method] = toOperation(operation);
  return {
    openapi: '3.1.0',
    info: {
      ...{ title: 'Tollgate', version: '1', description },
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: Object.entries(tags).map(([name, text]) => ({ name, description: text })),
    paths,
    webhooks: webhooksDocument(refTo),
    components: {
      schemas: {
        ...toComponents(bodySchemas, 'input', describeBodyField),
        ...toComponents(answerSchemas, 'output', openObject),
      },
      securitySchemes: {
        apiKey: {
          ...{ type: 'http', scheme: 'bearer', bearerFormat: 'tg_<environment>_<id>_<secret>' },
          description:
            "Your team's API key, for one environment. Each call lists its scopes; the key needs one of them.",
        },
      },
    },
  };
}

interface Built {
  zodSchema: unknown;
  jsonSchema: z.core.JSONSchema.BaseSchema;
}

function toComponents(
  schemas: Readonly<Record<string, z.ZodType>>,
  io: 'input' | 'output',
  finish: (built: Built) => void,
): Record<string, JsonObject> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const override = (built: Built) => {
    writeReadably(built);
    finish(built);
  };
  const uri = (id: string) => `#/components/schemas/${id}`;
  const { schemas: made } = z.toJSONSchema(registry, { io, uri, override });
  return Object.fromEntries(
    Object.entries(made).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema]),
  );
}

function writeReadably({ zodSchema, jsonSchema }: Built): void {
  // No pattern says which three letters are a currency.
  if (zodSchema === currencySchema) jsonSchema.pattern = '^[A-Z]{3}$';
  if (isRefinedBy(zodSchema, isVisibleText)) jsonSchema.pattern = visibleTextPattern;
  // The format already says what the pattern does, but of addresses that hardly anybody has.
  if (jsonSchema.format !== undefined && jsonSchema.format !== 'email') delete jsonSchema.pattern;
}

/** Zod leaves out of JSON Schema what only a function knows. */
function isRefinedBy(zodSchema: unknown, isValid: (text: string) => boolean): boolean {
  const { checks = [] } = (zodSchema as z.ZodType)._zod.def;
  return checks.some(({ _zod: { def } }) => 'fn' in def && def.fn === isValid);
}

function describeBodyField({ jsonSchema }: Built): void {
  for (const [name, property] of Object.entries(jsonSchema.properties ?? {}))
    // Fields of different meaning share a schema, so the description goes on the field.
    if (typeof property === 'object') property.description = bodyFields[name] ?? '';
}

// Readers must accept fields that are added later.
function openObject({ jsonSchema }: Built): void {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
}

function toOperation(operation: Operation): JsonObject {
  const { id, tag, summary, scopes, body } = operation;
  return {
    ...{ operationId: id, tags: [tag], summary, description: descriptionOf(operation) },
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

function descriptionOf({ description: text, scopes }: Operation): string {
  const needed = scopes?.map((scope) => `\`${scope}\``).join(' or ');
  const key = needed === undefined ? 'No key is needed.' : `The key needs the scope ${needed}.`;
  return text === undefined ? key : `${text}\n\n${key}`;
}

/** Printable ASCII, quoted or without a comma, and not empty; spaces around it get lost on the way. */
const idempotencyKeyPattern = '^(?!""$)("[ !#-~]+"|[!-+.-~-]([ -+.-~-]*[!-+.-~-])?)$';

function parametersOf({ path, query, idempotencyKey, minPosition, isTagged }: Operation): JsonObject[] {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    ...{ name, in: 'path', required: true },
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{1,128}$' },
  }));
  const header = (name: string, required: boolean, schema: JsonObject, text: string) => ({
    ...{ name, in: 'header', required, schema: { type: 'string', ...schema }, description: text },
  });
  return [
    ...inPath,
    ...(query === undefined ? [] : queryParametersOf(query)),
    ...(idempotencyKey === undefined
      ? []
      : [
          header(
            'Idempotency-Key',
            idempotencyKey === 'required',
            { minLength: 1, maxLength: 255, pattern: idempotencyKeyPattern },
            'Makes the request idempotent. Printable ASCII, once; quote a key that contains a comma. Keys do not expire.',
          ),
        ]),
    ...(minPosition === undefined
      ? []
      : [
          header(
            'Tollgate-Min-Position',
            false,
            { pattern: String.raw`^\d[\d:/-]{0,63}$` },
            'The `Tollgate-Position` of an earlier answer. The read waits up to two seconds to include it.',
          ),
        ]),
    ...(isTagged === undefined
      ? []
      : [header('If-None-Match', false, {}, 'The `ETag` of an earlier answer: 304 if nothing has changed.')]),
  ];
}

function queryParametersOf(schema: z.ZodType): JsonObject[] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input', override: writeReadably });
  return Object.entries(properties).map(([name, property]) => {
    const field = queryFields[name];
    return {
      ...{ name, in: 'query', required: required.includes(name) },
      description: field?.description ?? '',
      schema: field?.schema ?? property,
      ...(field?.isDeprecated === true ? { deprecated: true } : {}),
      ...(field?.style === undefined ? {} : { style: field.style, explode: true }),
      ...(field?.example === undefined ? {} : { example: field.example }),
    };
  });
}

const exampleRequestId = 'req_0me0pq5dc3b1f0e7a9c2d4e6f8a0b';

const textHeader = (text: string) => ({ description: text, schema: { type: 'string' } });
const positionHeader = {
  'Tollgate-Position': textHeader("The position of the command's events in the event store."),
};
const shownPositionHeader = {
  'Tollgate-Position': textHeader(
    'The position in the event store of the latest event that is shown; absent where nothing is. A read that sends it as `Tollgate-Min-Position` shows none of this as it was before.',
  ),
};
const requestIdHeader = {
  'Request-Id': textHeader(
    'The id of the request: of its record, of log lines and of the events that it caused.',
  ),
};
const replayedHeader = {
  'Idempotent-Replayed': textHeader('`true` on a replay: the request was carried out before, and not again.'),
};
const retryHeader = { 'Retry-After': textHeader('Seconds after which to repeat the request.') };
const challengeHeader = { 'WWW-Authenticate': textHeader('`Bearer`.') };

const taggedHeaders = {
  ETag: textHeader('Strong validator of the body: it changes whenever the body does.'),
};

function answersOf({ answers, isCommand, idempotencyKey, tellsPosition, isTagged }: Operation): JsonObject {
  const headers = {
    ...requestIdHeader,
    ...(isCommand === true ? positionHeader : {}),
    ...(tellsPosition === true ? shownPositionHeader : {}),
    ...(isCommand === true && idempotencyKey !== undefined ? replayedHeader : {}),
    ...(isTagged === true ? taggedHeaders : {}),
  };
  return Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [
      status,
      {
        description: answer.meaning,
        headers,
        ...contentOf(answer),
      },
    ]),
  );
}

function contentOf(answer: Operation['answers'][number]): JsonObject {
  if ('schema' in answer) return { content: { 'application/json': { schema: refTo(answer.schema) } } };
  if (!('type' in answer)) return {};
  const type = answer.type === 'application/json' ? 'object' : 'string';
  return { content: { [answer.type]: { schema: { type } } } };
}

/** Statuses of refusals whose codes the Payment Service chooses. */
const handedOnStatuses: readonly number[] = [400, 409];

function errorAnswersOf(operation: Operation): JsonObject {
  // The server answers so before there is a route: the URL counts as a header.
  const errors = { ...errorsOf(operation), 431: ['invalid_request'] as const };
  return Object.fromEntries(
    Object.entries(errors).map(([status, codes]) => [
      status,
      toErrorAnswer(operation, Number(status), codes),
    ]),
  );
}

function toErrorAnswer(
  { handsOnErrors, isCommand, idempotencyKey }: Operation,
  status: number,
  codes: readonly ErrorCode[],
): JsonObject {
  const isHandedOn = handsOnErrors === true && handedOnStatuses.includes(status);
  const list = codes.map((code) => `\`${code}\``).join(', ');
  const mayBeRecorded = isCommand === true && [400, 409, 502, 503].includes(status);
  return {
    description: isHandedOn ? `${list}, or a code of the Payment Service` : list,
    headers: {
      ...requestIdHeader,
      ...(codes.some((code) => statedError(code).retryAfterSeconds !== undefined) ? retryHeader : {}),
      ...(status === 401 ? challengeHeader : {}),
      ...(mayBeRecorded ? positionHeader : {}),
      ...(mayBeRecorded && idempotencyKey !== undefined ? replayedHeader : {}),
    },
    content: {
      'application/json': { schema: refTo('Errors'), examples: Object.fromEntries(codes.map(toExample)) },
    },
  };
}

const toExample = (code: ErrorCode): [string, JsonObject] => [
  code,
  { value: explained({ success: false, errors: [errorEntry(code)] }, exampleRequestId) },
];
