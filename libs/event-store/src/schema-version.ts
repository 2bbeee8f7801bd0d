/**
 * Stored data is read for years, including by the previous release while both run. Each addition to the events (a type, a
 * field, an enum value) states the schema version that introduced it. An event is stamped with the version that its
 * reader needs, and never with one that a living process cannot read (`SchemaGate`).
 */
import type { z } from 'zod';

/** The version that this release reads, and writes once every living process reads it. Raised by one per addition. */
export const schemaVersion = 1;

/** The version of everything that has not changed since the beginning. */
export const firstSchemaVersion = 1;

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
interface Upcaster {
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

/** Changes since the first schema version, by event type. */
interface Changes<Family extends Schemas> {
  /** The version that a reader of this data needs: 2 for a new type, or for data with a field that version 2 added. */
  needs?: { readonly [Type in keyof Family]?: (data: z.infer<Family[Type]>) => number };
  /** With ascending `until`. */
  upcasters?: { readonly [Type in keyof Family]?: readonly Upcaster[] };
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

export function eventFamily<Family extends Schemas>(
  schemas: Family,
  { needs = {}, upcasters = {} }: Changes<Family> = {},
  readable = schemaVersion,
): EventFamily<Family> {
  return {
    decode({ type, data, metadata }) {
      // Data that was not stored yet is of this release.
      const written = metadata === undefined ? readable : stampOf(metadata);
      if (written > readable) throw new EventOfNewerVersion(type, written);
      const schema = Object.hasOwn(schemas, type) ? schemas[type] : undefined;
      if (schema === undefined) throw new RangeError(`unknown event type ${type}`);
      const due = upcasters[type]?.filter(({ until }) => written < until);
      const upcast = due === undefined ? data : due.reduce((before, each) => each.upcast(before), data);
      return { type, data: schema.parse(upcast) } as EventOf<Family>;
    },
    versionOf: ({ type, data }) => needs[type]?.(data) ?? firstSchemaVersion,
  };
}

/** Without a schema: followers decode millions of events. */
function stampOf(metadata: unknown): number {
  const version = (metadata as { schemaVersion?: unknown } | null)?.schemaVersion;
  return typeof version === 'number' && Number.isSafeInteger(version) && version >= 1
    ? version
    : firstSchemaVersion;
}
