/** Schemas of the OpenAPI document: their fields as Markdown. */

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
 * One item per field. Those of an object without a name are nested.
 *
 * @param objects shown on a page of their own, so that their fields are not repeated
 */
export function fieldsOf(schema: Schema, objects: Schemas): string {
  const { properties = {}, required = [] } = schema;
  const base = baseOf(schema, objects);
  const inherited = Object.keys(base?.schema.properties ?? {});
  const own = Object.entries(properties)
    .filter(([name]) => !inherited.includes(name))
    // Most fields are required: the others are marked.
    .map(([name, field]) => {
      const about = `${typeOf(field)}${required.includes(name) ? '' : ', optional'}`;
      const nested = fieldsOf(field.items ?? field, objects).replaceAll(/^(?=.)/gm, '  ');
      return `${item(name, about, field.description)}${nested === '' ? '' : `\n${nested}`}`;
    });
  if (base === undefined) return own.join('\n');
  return [`The fields of ${linkTo(base.name)}${own.length === 0 ? '.' : ', and:'}\n`, ...own].join('\n');
}

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

/** An item of a list: a field, parameter, header or status with its description. */
export const item = (name: string, about: string, text = ''): string =>
  `- \`${name}\`${about === '' ? '' : ` *${about}*`} ${text.replaceAll(/\s*\n\s*/g, ' ')}`.trimEnd();

const linkTo = (name: string): string => `[${name}](objects.html#${name})`;

/** In words, with its limits. */
export function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return linkTo(nameOf(schema.$ref));
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
