/**
 * The public contract is defined once: one schema names the fields, and the API's answers, the topics' records, OpenAPI,
 * AsyncAPI and the
 * mapping functions derive from it. A field that is in no schema is never shown.
 */
import { InvariantViolation } from '@tollgate/service-kit';
import { z } from 'zod';

export type Fields = Readonly<Record<string, z.ZodType>>;

interface Notes {
  /** Maps the stored value to the public one, if they differ. */
  show?: (kept: never) => unknown;
  /** The current values of a list that may grow. */
  soFar?: readonly string[];
}
const notes = z.registry<Notes>();

/** A value that is shown in another form than it is kept in. */
export function shownBy<Schema extends z.ZodType>(
  schema: Schema,
  show: (kept: never) => z.infer<Schema>,
): Schema {
  notes.add(schema, { show });
  return schema;
}

/** One of a list that may grow. Answers enumerate the values; readers of topics must accept unknown ones. */
export function oneOf<Value extends string>(
  values: readonly Value[],
  description?: string,
): z.ZodType<Value> {
  const schema = z.enum([...values]).meta(description === undefined ? {} : { description });
  notes.add(schema, { soFar: values });
  return schema;
}

type Show = (kept: unknown) => unknown;
type Names<Shown, Kept> =
  Exclude<keyof Shown, keyof Kept> extends never ? unknown : { missing: Exclude<keyof Shown, keyof Kept> };

/** Maps a kept object to its public form: the schema's fields that have a value, in the schema's order. */
export function showing<Schema extends z.ZodType>(
  schema: Schema,
): <Kept extends object>(kept: Kept & Names<z.infer<Schema>, Kept>) => z.infer<Schema> {
  return showOf(schema) as (kept: object) => z.infer<Schema>;
}

function showOf(schema: z.ZodType): Show {
  const show = notes.get(schema)?.show;
  if (show !== undefined) return show as Show;
  if (schema instanceof z.ZodObject) return showObject(schema.shape);
  if (schema instanceof z.ZodArray) {
    const each = showOf(schema.element as z.ZodType);
    return (kept) => (kept as unknown[]).map(each);
  }
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional)
    return showOf(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodDiscriminatedUnion) return showOneOf(schema);
  for (const opaque of opaqueKinds)
    if (schema instanceof opaque)
      throw new InvariantViolation('a public schema must name what it shows, or say how it is shown');
  return (kept) => kept;
}

/** Everything in such a value would be shown. */
const opaqueKinds = [z.ZodAny, z.ZodUnknown, z.ZodRecord, z.ZodUnion, z.ZodNullable, z.ZodTuple, z.ZodLazy];

function showObject(shape: Fields): Show {
  const fields = Object.entries(shape).map(([name, field]) => [name, showOf(field)] as const);
  return (kept) => {
    const shown: Record<string, unknown> = {};
    for (const [name, show] of fields) {
      const value = (kept as Record<string, unknown>)[name];
      if (value !== undefined) shown[name] = show(value);
    }
    return shown;
  };
}

function showOneOf({ def }: z.ZodDiscriminatedUnion): Show {
  const { discriminator } = def;
  const options = (def.options as z.ZodObject[]).map(
    (option) => [(option.shape[discriminator] as z.ZodLiteral).value, showOf(option)] as const,
  );
  const shows = new Map<unknown, Show>(options);
  return (kept) => shows.get((kept as Record<string, unknown>)[discriminator])?.(kept);
}

const opened = new WeakMap<z.ZodType, z.ZodType>();

/** The schema for readers of the topics: lists of values that may grow are open. The same result for the same schema. */
export function onTopics<Schema extends z.ZodType>(schema: Schema): Schema {
  const known = opened.get(schema) ?? open(schema);
  opened.set(schema, known);
  return known as Schema;
}

function open(schema: z.ZodType): z.ZodType {
  const made = withOpenParts(schema);
  if (made === schema) return schema;
  const { soFar, ...note } = notes.get(schema) ?? {};
  const { description, ...meta } = schema.meta() ?? {};
  const values = soFar && `So far: ${soFar.map((value) => `\`${value}\``).join(', ')}; more may come.`;
  const text = [description, values].filter((part) => part !== undefined).join(' ');
  const described = text === '' ? made : made.meta({ ...meta, description: text });
  notes.add(described, note);
  return described;
}

function withOpenParts(schema: z.ZodType): z.ZodType {
  if (notes.get(schema)?.soFar !== undefined) return z.string();
  if (schema instanceof z.ZodObject) return z.object(openFields(schema.shape as Fields));
  if (schema instanceof z.ZodArray) return z.array(onTopics(schema.element as z.ZodType));
  if (schema instanceof z.ZodExactOptional) return onTopics(schema.unwrap() as z.ZodType).exactOptional();
  return schema;
}

const openFields = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, onTopics(field)]));

export interface Surfaces<Both extends Fields, InAnswers extends Fields, InRecords extends Fields> {
  /** In answers of the API and records of the topics; columns of exported files derive from these as well. */
  both: Both;
  inAnswers?: InAnswers;
  inRecords?: InRecords;
}

/** An object with its fields, by the place in which they are shown. A field under `both` is in every answer and record. */
export function publicObject<
  Both extends Fields,
  InAnswers extends Fields = Both,
  InRecords extends Fields = Both,
>({ both, inAnswers, inRecords }: Surfaces<Both, InAnswers, InRecords>) {
  return {
    both,
    answer: z.object({ ...both, ...inAnswers } as Both & InAnswers),
    record: onTopics(z.object({ ...both, ...inRecords } as Both & InRecords)),
  };
}

type Data = Record<string, unknown>;

export interface PublicEvent<InRecord extends z.ZodObject = z.ZodObject> {
  /** A sentence or two. */
  meaning: string;
  /** Its data in the API's history and on its topic. */
  answer: z.ZodObject;
  record: InRecord;
  toAnswer(data: object): Data;
  toRecord(data: object): Data;
}

/** An event whose public data are fields of the stored event's data, or of the result of `from`. */
export function publicEvent<Both extends Fields = Fields>(
  meaning: string,
  both: Both = {} as Both,
  { inAnswers = {}, from = (data) => data }: { inAnswers?: Fields; from?: (data: never) => object } = {},
): PublicEvent<z.ZodObject<Both>> {
  const { answer, record } = publicObject<Both, Fields, Fields>({ both, inAnswers });
  const [showAnswer, showRecord] = [showOf(answer), showOf(record)];
  return {
    meaning,
    answer,
    record,
    toAnswer: (data) => showAnswer(from(data as never)) as Data,
    toRecord: (data) => showRecord(from(data as never)) as Data,
  };
}
