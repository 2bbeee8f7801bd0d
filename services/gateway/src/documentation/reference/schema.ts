/** Schemas of the OpenAPI document: their fields as HTML, and an example value. */
import { type Html, html, trustedHtml } from '@tollgate/service-kit';
import { renderInline } from '../markdown.ts';

export interface Schema {
  $ref?: string;
  type?: string | readonly string[];
  description?: string;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  items?: Schema;
  enum?: readonly unknown[];
  'x-extensible-enum'?: readonly unknown[];
  examples?: readonly unknown[];
  default?: unknown;
  format?: string;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

export type Schemas = Readonly<Record<string, Schema>>;

export const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

/** @param schemas to look references up in */
export const resolve = (schema: Schema, schemas: Schemas): Schema =>
  schema.$ref === undefined ? schema : (schemas[nameOf(schema.$ref)] ?? {});

/**
 * One entry per field. Those of an object without a name are nested.
 * @param objects shown on a page of their own, so that their fields are not repeated
 */
export function fieldsOf(schema: Schema, objects: Schemas): Html | undefined {
  const { properties, required = [] } = schema;
  if (properties === undefined) return undefined;
  const base = baseOf(schema, objects);
  const inherited = Object.keys(base?.schema.properties ?? {});
  const fields = Object.entries(properties).filter(([name]) => !inherited.includes(name));
  const own = fields.map(([name, field]) => fieldOf(name, field, required.includes(name), objects));
  if (base !== undefined)
    return html`<p>The fields of ${linkTo(base.name)}${own.length === 0 ? '.' : ', and:'}</p>
      ${listOf(own)}`;
  return listOf(own);
}

const listOf = (entries: readonly Html[]): Html | undefined =>
  entries.length === 0 ? undefined : html`<dl>${entries}</dl>`;

/** Most fields are required: the others are marked. */
const fieldOf = (name: string, field: Schema, isRequired: boolean, objects: Schemas): Html =>
  entry(
    name,
    html`${typeOf(field)}${isRequired ? '' : ', optional'}`,
    inlineOf(field.description),
    fieldsOf(field.items ?? field, objects),
  );

/** Fewer fields than this are quicker to read than to look up. */
const inheritedFieldsMin = 3;

/** The largest named object whose fields this one has. */
function baseOf(schema: Schema, objects: Schemas): { name: string; schema: Schema } | undefined {
  const textOf = ({ properties, required }: Schema, name: string) =>
    JSON.stringify([properties?.[name], required?.includes(name) === true]);
  const sizeOf = ({ properties = {} }: Schema) => Object.keys(properties).length;
  const isIncluded = (each: Schema) =>
    Object.keys(each.properties ?? {}).every(
      (name) => schema.properties?.[name] !== undefined && textOf(each, name) === textOf(schema, name),
    );
  const isSmaller = (each: Schema) => each !== schema && sizeOf(each) <= sizeOf(schema);
  const [base] = Object.entries(objects)
    .filter(([, each]) => sizeOf(each) >= inheritedFieldsMin && isSmaller(each) && isIncluded(each))
    .toSorted(([, a], [, b]) => sizeOf(b) - sizeOf(a));
  return base && { name: base[0], schema: base[1] };
}

/** An entry of a list: a field, parameter, header or status with its description. */
export function entry(name: string, about: Html | undefined, text: Html | undefined, nested?: Html): Html {
  const term = html`<dt>${name}${about && html` <i>${about}</i>`}</dt>`;
  return html`${term}
    <dd>${text}${nested}</dd>`;
}

export const inlineOf = (text: string | undefined): Html | undefined =>
  text === undefined ? undefined : trustedHtml(renderInline(text));

export const linkTo = (name: string): Html => html`<a href="objects.html#${name}">${name}</a>`;

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

/** In words, with its limits. */
export function typeOf(schema: Schema): Html {
  if (schema.$ref !== undefined) return linkTo(nameOf(schema.$ref));
  if (schema.items !== undefined) return html`${typeOf(schema.items)}[]`;
  const values = schema.enum ?? schema['x-extensible-enum'];
  if (values !== undefined) return html`${values.map(String).join(' | ')}`;
  const type = [schema.type ?? 'any'].flat().join(' or ');
  const isPlain = schema.format === undefined || schema.format === 'int64';
  return html`${[isPlain ? type : schema.format, ...limitsOf(schema)].join(', ')}`;
}

function limitsOf({ minimum, maximum, maxLength, minItems, maxItems, ...rest }: Schema): string[] {
  const limits = [
    minimum !== undefined && minimum > 0 && `at least ${minimum}`,
    maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && `at most ${maximum}`,
    maxLength !== undefined && `up to ${maxLength} characters`,
    minItems !== undefined && `at least ${minItems}`,
    maxItems !== undefined && `at most ${maxItems}`,
    rest.default !== undefined && `default ${JSON.stringify(rest.default)}`,
  ];
  return limits.filter((limit) => limit !== false);
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
