/** Schemas of the OpenAPI document: their fields as Markdown. */
import type { Schema } from '@tollgate/gateway-api/http';

export type Schemas = Readonly<Record<string, Schema>>;

export const nameOf = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

/** @param schemas to look references up in */
export const resolve = (schema: Schema, schemas: Schemas): Schema =>
  schema.$ref === undefined ? schema : (schemas[nameOf(schema.$ref)] ?? {});

/** One item per field. Those of an object without a name are nested. */
export const fieldsOf = ({ properties = {}, required = [] }: Schema): string =>
  Object.entries(properties)
    .map(([name, field]) => {
      // Most fields are required: the others are marked.
      const about = `${typeOf(field)}${required.includes(name) ? '' : ', optional'}`;
      const nested = fieldsOf(field.items ?? field).replaceAll(/^(?=.)/gm, '  ');
      return `${item(name, about, field.description)}${nested === '' ? '' : `\n${nested}`}`;
    })
    .join('\n');

/** An item of a list: a field, parameter, header or status with its description. */
export const item = (name: string, about: string, text = ''): string =>
  `- \`${name}\`${about === '' ? '' : ` *${about}*`} ${text.replaceAll(/\s*\n\s*/g, ' ')}`.trimEnd();

/** In words, with its limits. */
export function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) {
    const name = nameOf(schema.$ref);
    return `[${name}](objects.html#${name})`;
  }
  if (schema.items !== undefined) return `${typeOf(schema.items)}[]`;
  const values = schema.enum ?? schema['x-extensible-enum'];
  if (values !== undefined) return values.map(String).join(' | ');
  const type = [schema.type ?? 'any'].flat().join(' or ');
  const isPlain = schema.format === undefined || schema.format === 'int64';
  return [isPlain ? type : schema.format, ...limitsOf(schema)].join(', ');
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
