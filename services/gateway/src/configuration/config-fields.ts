import { z } from 'zod';

/** An environment variable, or a field of a file, as its schema has it. */
export interface ConfigField {
  name: string;
  /** Its purpose, in Markdown. */
  description: string;
  /** As written; undefined if there is none, or if `unset` describes the behavior. */
  byDefault: string | undefined;
  unset: string | undefined;
  isRequired: boolean;
  /** The bounds, in the words of the refusal; undefined if the schema accepts any text. */
  rule: string | undefined;
}

/** No variable of ours may be this. */
const nonsense = '\u2205';

/** The fields of a configuration schema, in order; the first of duplicate names. */
export function fieldsOf(schema: z.ZodType): readonly ConfigField[] {
  const named = new Map<string, ConfigField>();
  for (const [name, field] of entriesOf(schema))
    if (!named.has(name)) named.set(name, toField(name, field, schema));
  return [...named.values()];
}

export const variableNames = (schema: z.ZodType): readonly string[] =>
  fieldsOf(schema).map(({ name }) => name);

function entriesOf(schema: unknown): [string, z.ZodType][] {
  if (schema instanceof z.ZodObject) return Object.entries<z.ZodType>(schema.shape);
  if (schema instanceof z.ZodPipe) return entriesOf(schema.def.in);
  if (schema instanceof z.ZodIntersection)
    return [...entriesOf(schema.def.left), ...entriesOf(schema.def.right)];
  return [];
}

function toField(name: string, field: z.ZodType, whole: z.ZodType): ConfigField {
  const { description, unset } = field.meta() ?? {};
  if (description === undefined) throw new Error(`${name} has no description`);
  return {
    name,
    description,
    unset: typeof unset === 'string' ? unset : undefined,
    byDefault: defaultOf(field),
    isRequired: !field.safeParse(undefined).success,
    rule: ruleOf(name, field) ?? ruleOfWhole(name, whole),
  };
}

function defaultOf(field: z.ZodType): string | undefined {
  if (!(field instanceof z.ZodDefault || field instanceof z.ZodPrefault)) return undefined;
  const text = String(field.def.defaultValue);
  return text === '' ? undefined : text;
}

const ruleOf = (name: string, field: z.ZodType): string | undefined =>
  field.safeParse(nonsense).error?.issues[0]?.message.replace(`${name} `, '');

/** Faults across several variables are refused by a message that begins with the one at fault. */
const ruleOfWhole = (name: string, whole: z.ZodType): string | undefined =>
  whole
    .safeParse({ [name]: nonsense })
    .error?.issues.map(({ message }) => message)
    .find((message) => message.startsWith(`${name} must be `))
    ?.slice(name.length + 1);
