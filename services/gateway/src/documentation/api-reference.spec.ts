import { expect, it } from 'vitest';
import { type OpenApiOperation, curlOf } from './api-reference.ts';
import { exampleOf, writeExample } from './example.ts';

const operation: OpenApiOperation = {
  operationId: 'act',
  tags: ['Acts'],
  summary: 'Acts',
  description: '',
  security: [{ apiKey: ['acts'] }],
  responses: {},
};

it('a sample has the key, the required fields, and a body in shell-safe quotes', () => {
  const parameters = [
    { name: 'currency', in: 'query', required: true, example: 'EUR', schema: {} },
    { name: 'cursor', in: 'query', required: false, schema: {} },
    { name: 'Idempotency-Key', in: 'header', required: true, schema: {} },
  ];
  const content = { 'application/json': { schema: {}, example: { product: "Ada's tea" } } };
  const call = { method: 'post', path: '/acts/{token}' };
  const full = { ...operation, ...call, parameters, requestBody: { required: true, content } };
  expect(curlOf(full, {})).toBe(
    [
      'curl -X POST "$TOLLGATE_URL/acts/<token>?currency=EUR"',
      '  -H "Authorization: Bearer $TOLLGATE_KEY"',
      "  -H 'Idempotency-Key: <Idempotency-Key>'",
      "  -H 'Content-Type: application/json'",
      String.raw`  -d '{"product":"Ada'\''s tea"}'`,
    ].join(' \\\n'),
  );
});

it('an operation without a key is called without one', () => {
  expect(curlOf({ ...operation, method: 'get', path: '/healthz', security: [] }, {})).toBe(
    'curl "$TOLLGATE_URL/healthz"',
  );
});

it('an example has the required fields, by their own examples if they have some', () => {
  const schemas = {
    Part: { type: 'object', properties: { at: { type: 'string', format: 'date' } }, required: ['at'] },
  };
  const properties = {
    success: { type: 'boolean' },
    amount: { type: 'integer', minimum: 1, examples: [1250] },
    parts: { type: 'array', items: { $ref: '#/components/schemas/Part' } },
    note: { type: 'string' },
  };
  const schema = { type: 'object', properties, required: ['success', 'amount', 'parts'] };
  const example = exampleOf(schema, schemas);
  expect(example).toEqual({ success: true, amount: 1250, parts: [{ at: '2030-01-01' }] });
  expect(JSON.parse(writeExample({ example, long: 'x'.repeat(100) }))).toEqual({
    example,
    long: 'x'.repeat(100),
  });
});
