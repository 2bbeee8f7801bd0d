import { scopes } from '@tollgate/teams';
import { describe, expect, it } from 'vitest';
import { createOpenApiDocument } from './document.ts';
import { bodyFields } from './fields.ts';
import { bodySchemas, operations, querySchemas } from './operations.ts';

const document = createOpenApiDocument();

/** Every object of the document, with where it is. */
function walk(
  value: unknown,
  path: string,
  visit: (node: Record<string, unknown>, path: string) => void,
): void {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) visit(value as Record<string, unknown>, path);
  for (const [name, child] of Object.entries(value)) walk(child, `${path}/${name}`, visit);
}

describe('the OpenAPI document', () => {
  it('is JSON of version 3.1, and its references lead somewhere', () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
    expect(document.openapi).toBe('3.1.0');
    const names = Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`);
    walk(document, '', ({ $ref }, path) => {
      if ($ref !== undefined) expect(names, path).toContain($ref);
    });
  });

  it('names every call once', () => {
    const ids = operations.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    const calls = operations.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(calls).size).toBe(calls.length);
  });

  it('tells what every field of a body and every parameter of a query means', () => {
    for (const name of Object.keys(bodySchemas))
      walk(document.components.schemas[name], name, ({ properties }, path) => {
        for (const [field, schema] of Object.entries(properties ?? {}))
          expect((schema as { description?: string }).description, `${path}.${field}`).toBe(
            bodyFields[field],
          );
      });
    for (const { parameters } of Object.values(document.paths).flatMap((calls) => Object.values(calls)))
      for (const { name, in: place, description } of parameters as {
        name: string;
        in: string;
        description: string;
      }[])
        if (place !== 'path') expect(description, name).not.toBe('');
  });

  it('lets no field of a body be left out that the route takes, and closes bodies as the route does', () => {
    expect(Object.keys(document.components.schemas['PaymentRequest']?.['properties'] ?? {})).toEqual(
      Object.keys(bodySchemas.PaymentRequest.shape),
    );
    expect(document.components.schemas['PaymentRequest']).toMatchObject({
      required: ['product', 'amount', 'currency'],
      additionalProperties: false,
    });
    expect(document.components.schemas['Payment']).not.toHaveProperty('additionalProperties');
  });

  it.each(
    operations
      .filter(({ body }) => body !== undefined)
      .map((operation) => [operation.id, operation] as const),
  )('has an example for %s that its route takes', (_, { body }) => {
    expect(body && bodySchemas[body.schema].safeParse(body.example).success).toBe(true);
  });

  // The front door answers so for any of them.
  it('tells of every call of the API that its service may be away', () => {
    for (const { id, path, method } of operations.filter(({ scopes: asked }) => asked !== undefined))
      expect(document.paths[path]?.[method]?.['responses'], id).toMatchObject({
        503: {
          headers: { 'Retry-After': {} },
          content: { 'application/json': { examples: { service_unavailable: {}, answer_lost: {} } } },
        },
      });
  });

  it('writes the parameters of queries as they are sent', () => {
    const { parameters } = document.paths['/api/v1/payments']?.['get'] as { parameters: { name: string }[] };
    const named = Object.fromEntries(parameters.map((parameter) => [parameter.name, parameter]));
    expect(Object.keys(named).sort()).toEqual(
      [...Object.keys(querySchemas.payments.shape), 'Tollgate-Min-Position'].sort(),
    );
    expect(named['perPage']).toMatchObject({ schema: { type: 'integer', maximum: 500 }, required: false });
    expect(named['withTotal']).toMatchObject({ schema: { enum: ['true', 'false'] } });
    expect(document.paths['/api/v1/balance']?.['get']).toMatchObject({
      parameters: [{ name: 'currency', required: true, schema: { pattern: '^[A-Z]{3}$' } }],
    });
  });

  it('asks for a scope that there is, wherever it asks for a key', () => {
    for (const operation of operations)
      for (const scope of operation.scopes ?? []) expect(scopes).toContain(scope);
    const open = operations.filter((operation) => operation.scopes === undefined).map(({ path }) => path);
    expect(open).toEqual(['/healthz', '/readyz', '/metrics', '/openapi.json', '/docs']);
  });
});
