/**
 * Stored data is read for years, including by the previous release while both run. Each addition to the events (a type, a
 * field, an enum value) declares the schema version that introduced it. An event is stamped with the version that its
 * reader needs, and never with one that a living process cannot read (`SchemaGate`).
 */
import { z } from 'zod';
import { InvariantViolation } from './invariant.ts';

/** The version that this release reads, and writes once every living process reads it. Raised by one per addition. */
export const schemaVersion = 1;

/** The version of everything that has not changed since the beginning. */
export const firstSchemaVersion = 1;

const additions = z.registry<{ since: number }>();

/**
 * Marks an addition to the events in that schema version: the data of an event type, an optional field, or, as a literal in
 * a union, an enum value. Readers of an older version do not receive it.
 *
 * @throws InvariantViolation for a version that this release cannot read
 */
export function since<Schema extends z.ZodType>(
  version: number,
  schema: Schema,
  readable = schemaVersion,
): Schema {
  if (version > readable) throw new InvariantViolation(`something was added in schema version ${version}`);
  // A copy: the same schema may be used elsewhere since the beginning.
  const added = schema.clone();
  additions.add(added, { since: version });
  return added;
}

/** The schema version that a reader of these data needs: the latest of all additions in them. */
export function versionNeededBy(schema: z.ZodType, data: unknown): number {
  if (data === undefined || !hasAdditions(schema)) return firstSchemaVersion;
  const own = additions.get(schema)?.since ?? firstSchemaVersion;
  const fields = addedFieldsOf(schema);
  const parts = fields?.map(([name, field]): Part => [field, (data as Record<string, unknown>)[name]]);
  return Math.max(own, ...(parts ?? partsOf(schema, data)).map((part) => versionNeededBy(...part)));
}

type Fields = readonly (readonly [name: string, field: z.ZodType])[];
const fieldsOf = new WeakMap<z.ZodType, Fields>();

/** The fields of an object that contain additions. Cached, since it is needed for each written event. */
function addedFieldsOf(schema: z.ZodType): Fields | undefined {
  if (!(schema instanceof z.ZodObject)) return undefined;
  const known = fieldsOf.get(schema);
  if (known !== undefined) return known;
  const all = Object.entries<z.ZodType>(schema.shape);
  const found = all.filter(([, field]) => hasAdditions(field));
  fieldsOf.set(schema, found);
  return found;
}

type Part = readonly [schema: z.ZodType, value: unknown];

/** The inner schemas, each with its part of the data. */
function partsOf(schema: z.ZodType, data: unknown): readonly Part[] {
  const { def } = (schema as unknown as z.core.$ZodTypes)._zod;
  switch (def.type) {
    case 'object':
      return Object.entries(def.shape as Record<string, z.ZodType>).map(([name, field]) => [
        field,
        (data as Record<string, unknown> | undefined)?.[name],
      ]);
    case 'array':
      return (Array.isArray(data) ? data : [undefined]).map((each: unknown) => [
        def.element as z.ZodType,
        each,
      ]);
    case 'record':
      return Object.values(data ?? { some: undefined }).map((each) => [def.valueType as z.ZodType, each]);
    case 'union': {
      const options = def.options as readonly z.ZodType[];
      if (data === undefined) return options.map((option) => [option, undefined]);
      const readers = options.filter((option) => option.safeParse(data).success);
      // The lowest of the matching forms: a reader of that one can read the data.
      const least = readers.toSorted((a, b) => versionNeededBy(a, data) - versionNeededBy(b, data))[0];
      return least === undefined ? [] : [[least, data]];
    }
    case 'optional':
    case 'nullable':
    case 'default':
    case 'readonly':
      return [[def.innerType as z.ZodType, data]];
    case 'pipe':
      return [[def.in as z.ZodType, data]];
    default:
      return [];
  }
}

const known = new WeakMap<z.ZodType, boolean>();

/** Almost no schema has any, so the check of each written event is free. */
function hasAdditions(schema: z.ZodType): boolean {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const has =
    additions.get(schema) !== undefined || partsOf(schema, undefined).some(([part]) => hasAdditions(part));
  known.set(schema, has);
  return has;
}

/** An event of a newer release, unreadable here: a process of that release will read it. */
export class EventOfNewerVersion extends Error {
  readonly code = 'event_of_newer_version';
  readonly retryable = true;

  constructor(type: string, version: number) {
    super(
      `An event ${type} was written in schema version ${version}, and this release reads up to ${schemaVersion}: upgrade it.`,
    );
    this.name = 'EventOfNewerVersion';
  }
}

/** Upgrades the data of an event type from before `until` to its form since then. */
export interface Upcaster {
  /** The first schema version with the new form. */
  until: number;
  upcast(data: unknown): unknown;
}

type Schemas = Readonly<Record<string, z.ZodType>>;

export type EventOf<Family extends Schemas> = {
  [Type in keyof Family & string]: { type: Type; data: z.infer<Family[Type]> };
}[keyof Family & string];

interface StoredEvent {
  type: string;
  data: unknown;
  metadata?: unknown;
}

/** How the events of one kind of stream are read and stamped. */
export interface EventFamily<Family extends Schemas> {
  /**
   * @throws EventOfNewerVersion; z.ZodError for data that no version of ours has written, and RangeError for an unknown
   * type: an unreadable event must not be skipped
   */
  decode(stored: StoredEvent): EventOf<Family>;
  versionOf(event: EventOf<Family>): number;
}

/** @param upcasters by type, each with ascending `until` */
export function eventFamily<Family extends Schemas>(
  schemas: Family,
  upcasters: { readonly [Type in keyof Family]?: readonly Upcaster[] } = {},
  readable = schemaVersion,
): EventFamily<Family> {
  const schemaOf = (type: string): z.ZodType => {
    const schema = Object.hasOwn(schemas, type) ? schemas[type] : undefined;
    if (schema === undefined) throw new RangeError(`unknown event type ${type}`);
    return schema;
  };
  return {
    decode({ type, data, metadata }) {
      // Data that was not stored yet is of this release.
      const written = metadata === undefined ? readable : stampOf(metadata);
      if (written > readable) throw new EventOfNewerVersion(type, written);
      const schema = schemaOf(type);
      const due = upcasters[type]?.filter(({ until }) => written < until);
      const upcast = due === undefined ? data : due.reduce((before, each) => each.upcast(before), data);
      return { type, data: schema.parse(upcast) } as EventOf<Family>;
    },
    versionOf: ({ type, data }) => versionNeededBy(schemaOf(type), data),
  };
}

/** Without a schema: followers decode millions of events. */
function stampOf(metadata: unknown): number {
  const version = (metadata as { schemaVersion?: unknown } | null)?.schemaVersion;
  return typeof version === 'number' && Number.isSafeInteger(version) && version >= 1
    ? version
    : firstSchemaVersion;
}
