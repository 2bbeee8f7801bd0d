/** Examples of schemas of the OpenAPI document. */
import type { Schema } from '@tollgate/gateway-api/http';
import { type Schemas, resolve } from './schema.ts';

/** Maximum length of a value that an example shows in one line. */
const inOneLineMax = 80;

/** JSON with short values in one line. */
export function writeExample(value: unknown, indent = ''): string {
  const short = JSON.stringify(value, null, 1).replaceAll(/\s*\n\s*/g, ' ');
  if (typeof value !== 'object' || value === null || short.length <= inOneLineMax) return short;
  const deeper = `${indent}  `;
  const isArray = Array.isArray(value);
  const parts = Object.entries(value).map(
    ([name, part]) => `${deeper}${isArray ? '' : `${JSON.stringify(name)}: `}${writeExample(part, deeper)}`,
  );
  const [open, close] = isArray ? '[]' : '{}';
  return `${open}\n${parts.join(',\n')}\n${indent}${close}`;
}

const byFormat: Readonly<Record<string, unknown>> = {
  uri: 'https://example.com/',
  'date-time': '2030-01-01T12:00:00.000Z',
  date: '2030-01-01',
};

/** A value that fits the schema: its own example, or one composed of its parts. */
export function exampleOf(schema: Schema, schemas: Schemas): unknown {
  if (schema.$ref !== undefined) return exampleOf(resolve(schema, schemas), schemas);
  const [given] = schema.examples ?? schema.enum ?? schema['x-extensible-enum'] ?? [];
  if (given !== undefined) return given;
  const [type] = [schema.type].flat();
  if (type === 'object') return exampleObject(schema, schemas);
  if (type === 'array') return schema.items === undefined ? [] : [exampleOf(schema.items, schemas)];
  if (type === 'integer' || type === 'number') return schema.minimum ?? 0;
  if (type === 'boolean') return false;
  if (schema.pattern === '^[A-Z]{3}$') return 'EUR';
  return byFormat[schema.format ?? ''] ?? '…';
}

/** Fields that are not always present are left out: an object with all of them does not occur. */
const exampleObject = ({ properties = {}, required = [] }: Schema, schemas: Schemas): unknown =>
  Object.fromEntries(
    Object.entries(properties)
      .filter(([name]) => required.includes(name))
      .map(([name, field]) => [name, name === 'success' || exampleOf(field, schemas)]),
  );
