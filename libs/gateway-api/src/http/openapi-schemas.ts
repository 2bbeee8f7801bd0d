/**
 * The schemas of the OpenAPI document, in the part of JSON Schema that generators of clients understand: amounts of 64 bits,
 * no constants, and objects instead of unions. Values and variants of answers may be added in any release, so answers name
 * the values of today and accept others.
 */
import { isDeepStrictEqual } from 'node:util';
import { isVisibleText, visibleTextPattern } from '@tollgate/payment-api';
import { currencySchema } from '@tollgate/core/money';
import { InvariantViolation } from '@tollgate/service-kit';
import { z } from 'zod';
import { bodyFields } from './fields.ts';

export type JsonObject = Record<string, unknown>;
type Schemas = Record<string, JsonObject>;

interface Built {
  zodSchema: unknown;
  jsonSchema: z.core.JSONSchema.BaseSchema;
}

/** The part of JSON Schema that the documents use. */
export interface Schema {
  type?: string | string[];
  description?: string;
  format?: string;
  pattern?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  examples?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  $ref?: string;
  'x-extensible-enum'?: string[];
}

const prefix = '#/components/schemas/';

/** Components of requests. The routes parse with the same schemas and refuse anything else. */
export const bodyComponents = (schemas: Readonly<Record<string, z.ZodType>>): Schemas =>
  toComponents(schemas, 'input', describeFields);

/** Components of answers. */
export function answerComponents(schemas: Readonly<Record<string, z.ZodType>>): Schemas {
  const components = toComponents(schemas, 'output', ({ jsonSchema }) => {
    delete jsonSchema.additionalProperties;
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  }) as Record<string, Schema>;
  return Object.fromEntries(
    Object.entries(components).map(([name, schema]) => [name, { ...opened(schema, components) }]),
  );
}

function toComponents(
  schemas: Readonly<Record<string, z.ZodType>>,
  io: 'input' | 'output',
  finish: (built: Built) => void,
): Schemas {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const override = (built: Built) => {
    writeReadably(built);
    finish(built);
  };
  const { schemas: made } = z.toJSONSchema(registry, { io, uri: (id) => prefix + id, override });
  return Object.fromEntries(
    Object.entries(made).map(([name, { $schema: _, $id: __, ...schema }]) => [name, schema]),
  );
}

export function writeReadably({ zodSchema, jsonSchema }: Built): void {
  // A pattern cannot enumerate currencies.
  if (zodSchema === currencySchema) jsonSchema.pattern = '^[A-Z]{3}$';
  if (isRefinedBy(zodSchema, isVisibleText)) jsonSchema.pattern = visibleTextPattern;
  // The format already implies the pattern, except for very unusual addresses.
  if (jsonSchema.format !== undefined && jsonSchema.format !== 'email') delete jsonSchema.pattern;
  const [value, none] = jsonSchema.anyOf ?? [];
  if (value?.type !== undefined && none?.type === 'null') {
    delete jsonSchema.anyOf;
    Object.assign(jsonSchema, value, { type: [value.type, 'null'] });
  }
  const types: unknown[] = [jsonSchema.type].flat();
  if (types.includes('number')) jsonSchema.format = 'double';
  if (types.includes('integer')) jsonSchema.format = 'int64';
}

/** Zod omits from JSON Schema what only a function checks. */
function isRefinedBy(zodSchema: unknown, isValid: (text: string) => boolean): boolean {
  const { checks = [] } = (zodSchema as z.ZodType)._zod.def;
  return checks.some(({ _zod: { def } }) => 'fn' in def && def.fn === isValid);
}

function describeFields({ jsonSchema }: Built): void {
  for (const [name, property] of Object.entries(jsonSchema.properties ?? {}))
    // Fields of different meaning share a schema, so the description continues the field.
    if (typeof property === 'object') property.description = bodyFields[name] ?? '';
}

/** The schema without constants, enumerations and unions. */
function opened(schema: Schema, components: Record<string, Schema>): Schema {
  const { anyOf, oneOf, allOf, ...own } = schema;
  const variants = anyOf ?? oneOf ?? allOf;
  if (variants !== undefined)
    return { ...own, ...merged(variants, { components, isEither: allOf === undefined }) };
  const open = withOpenValues(own);
  if (open.properties !== undefined)
    open.properties = Object.fromEntries(
      Object.entries(open.properties).map(([name, each]) => [name, opened(each, components)]),
    );
  if (open.items !== undefined) open.items = opened(open.items, components);
  if (typeof open.additionalProperties === 'object')
    open.additionalProperties = opened(open.additionalProperties, components);
  return open;
}

function withOpenValues({ const: constant, enum: values = [constant], ...schema }: Schema): Schema {
  const texts = values.filter((value) => typeof value === 'string');
  return texts.length === 0 ? schema : { ...schema, 'x-extensible-enum': [...new Set(texts)] };
}

interface Merging {
  components: Record<string, Schema>;
  /** False where all variants hold at once. */
  isEither: boolean;
}

/** One object with the fields of all variants; required are those that each has. */
function merged(variants: readonly Schema[], { components, isEither }: Merging): Schema {
  const all = variants.map(({ $ref, ...schema }) =>
    opened($ref === undefined ? schema : (components[$ref.slice(prefix.length)] ?? {}), components),
  );
  const [first, ...others] = all;
  if (first === undefined) throw new InvariantViolation('a union without variants');
  return others.reduce((one, other) => both(one, other, isEither), first);
}

function both(one: Schema, other: Schema, isEither: boolean): Schema {
  if (one.type === 'string' && other.type === 'string') return textOf(one, other);
  if (one.type === 'integer' && other.type === 'integer') return withoutBounds(one);
  const { properties: ours = {}, required: needed = [] } = one;
  const { properties: theirs = {}, required: alsoNeeded = [] } = other;
  if (one.type !== 'object' || other.type !== 'object')
    throw new InvariantViolation(`a union in the OpenAPI document: ${JSON.stringify([one, other])}`);
  const added = Object.entries(theirs).map(([name, theirsOf]): [string, Schema] => {
    const oursOf = ours[name];
    if (oursOf === undefined) return [name, theirsOf];
    const isSame = isDeepStrictEqual(bare(oursOf), bare(theirsOf));
    return [name, isSame ? oursOf : both(oursOf, theirsOf, isEither)];
  });
  const required = isEither
    ? needed.filter((name) => alsoNeeded.includes(name))
    : [...new Set([...needed, ...alsoNeeded])];
  return { type: 'object', properties: { ...ours, ...Object.fromEntries(added) }, required };
}

const withoutBounds = ({ minimum: _, maximum: __, ...schema }: Schema): Schema => schema;
const bare = ({ description: _, examples: __, ...schema }: Schema): Schema => schema;

function textOf(one: Schema, other: Schema): Schema {
  const descriptions = [one, other].flatMap(({ description }) => description ?? []);
  const description = [...new Set(descriptions)].join('\n');
  const text: Schema = { type: 'string', ...(description === '' ? {} : { description }) };
  const [ours, theirs] = [one['x-extensible-enum'], other['x-extensible-enum']];
  if (ours !== undefined && theirs !== undefined)
    text['x-extensible-enum'] = [...new Set([...ours, ...theirs])];
  return text;
}
