import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { EventOfNewerVersion, eventFamily, schemaVersion, since, versionNeededBy } from './schema-version.ts';

const readable = 4;
const added = <Schema extends z.ZodType>(version: number, schema: Schema) => since(version, schema, readable);

/** As in a later release: a type, fields and enum values of versions 2 to 4. */
const schemas = {
  Opened: z.object({
    sum: z.int(),
    note: added(2, z.string().optional()),
    kind: z.union([z.enum(['card', 'hosted']), added(3, z.literal('wallet'))]).optional(),
    lines: z.array(z.object({ name: z.string(), tax: added(4, z.int().optional()) })).optional(),
    labels: z.record(z.string(), z.object({ colour: added(2, z.string().optional()) })).optional(),
  }),
  Noted: added(3, z.object({ text: z.string() })),
  Closed: z.object({}),
} as const;
const family = eventFamily(schemas, {}, readable);

describe('an event is stamped with the version that its reader needs', () => {
  it.each([
    ['nothing that was added', { sum: 1 }, 1],
    ['a field', { sum: 1, note: 'x' }, 2],
    ['an enum value of the beginning', { sum: 1, kind: 'card' }, 1],
    ['an enum value', { sum: 1, kind: 'wallet' }, 3],
    ['a field of an element', { sum: 1, lines: [{ name: 'a' }, { name: 'b', tax: 7 }] }, 4],
    ['elements without it', { sum: 1, lines: [{ name: 'a' }] }, 1],
    ['a field of a record', { sum: 1, labels: { a: { colour: 'red' } } }, 2],
    ['several: the latest counts', { sum: 1, note: 'x', kind: 'wallet' }, 3],
  ] as const)('%s', (_case, data, version) => {
    expect(family.versionOf({ type: 'Opened', data: data as never })).toBe(version);
  });

  it('a type', () => {
    expect(family.versionOf({ type: 'Noted', data: { text: 'x' } })).toBe(3);
    expect(family.versionOf({ type: 'Closed', data: {} })).toBe(1);
  });

  it.each([
    ['what may be null', added(3, z.literal('x')).nullable(), 'x', 3],
    ['what has a default', added(3, z.literal('x')).default('x'), 'x', 3],
    ['what is read only', z.array(added(3, z.literal('x'))).readonly(), ['x'], 3],
    ['what is transformed', added(3, z.literal('x')).transform(String), 'x', 3],
    ['one field of several', z.object({ a: z.string(), b: added(3, z.string()) }), { a: 'x', b: 'x' }, 3],
    ['nothing where no form fits', z.union([added(3, z.literal('x')), z.literal('y')]), 'z', 1],
    ['nothing where nothing was added', z.object({ a: z.string() }), { a: 'x' }, 1],
  ] as const)('%s', (_case, schema, data, version) => {
    expect(versionNeededBy(schema, data)).toBe(version);
    // The cached answer is the same.
    expect(versionNeededBy(schema, data)).toBe(version);
  });

  it('of two matching forms, the one with the lower version counts', () => {
    const either = z.union([added(2, z.object({ a: z.int() })), z.object({ a: z.number() })]);
    expect(versionNeededBy(either, { a: 1 })).toBe(1);
  });
});

it('marks a copy: the same schema elsewhere keeps its version', () => {
  const text = z.string();
  const later = added(2, text);
  expect(versionNeededBy(later, 'x')).toBe(2);
  expect(versionNeededBy(text, 'x')).toBe(1);
});

it('nothing may be added in a version that this release does not read', () => {
  const message = `something was added in schema version ${schemaVersion + 1}`;
  expect(() => since(schemaVersion + 1, z.string())).toThrow(message);
  expect(versionNeededBy(since(schemaVersion, z.string()), 'x')).toBe(schemaVersion);
});

describe('reading', () => {
  const stored = (version: number, data: unknown = {}, type = 'Closed') => ({
    type,
    data,
    metadata: { schemaVersion: version },
  });

  it('refuses a newer version, even if it could be read', () => {
    expect(() => family.decode(stored(readable + 1))).toThrow(EventOfNewerVersion);
    expect(() => family.decode(stored(readable + 1, {}, 'Unheard'))).toThrow(
      `written in schema version ${readable + 1}`,
    );
    expect(family.decode(stored(readable))).toEqual({ type: 'Closed', data: {} });
    // A process of the newer release reads it: the caller retries.
    expect(new EventOfNewerVersion('Unheard', 5)).toMatchObject({
      name: 'EventOfNewerVersion',
      code: 'event_of_newer_version',
      retryable: true,
    });
  });

  it('treats an unknown type of a known version as damage', () => {
    for (const type of ['Unheard', 'constructor', '__proto__'])
      expect(() => family.decode(stored(1, {}, type))).toThrow(new RangeError(`unknown event type ${type}`));
  });

  it('ignores unknown fields', () => {
    expect(family.decode(stored(1, { later: 1 }))).toEqual({ type: 'Closed', data: {} });
  });

  it('upgrades older data step by step, and leaves newer data alone', () => {
    const priced = eventFamily(
      { Priced: z.object({ amount: z.int(), currency: z.string() }) },
      {
        Priced: [
          { until: 2, upcast: (data) => ({ value: (data as { sum: number }).sum }) },
          { until: 3, upcast: (data) => ({ amount: (data as { value: number }).value, currency: 'EUR' }) },
        ],
      },
      readable,
    );
    const event = { type: 'Priced', data: { amount: 5, currency: 'EUR' } };
    expect(priced.decode(stored(1, { sum: 5 }, 'Priced'))).toEqual(event);
    expect(priced.decode(stored(2, { value: 5 }, 'Priced'))).toEqual(event);
    expect(priced.decode(stored(3, event.data, 'Priced'))).toEqual(event);
    // Data that was not stored yet has the form of this release.
    expect(priced.decode(event)).toEqual(event);
    expect(() => priced.decode(stored(3, { sum: 5 }, 'Priced'))).toThrow(z.ZodError);
  });

  it('reads the version from any metadata, and fails only for a newer one', () => {
    fc.assert(
      fc.property(fc.anything(), (metadata) => {
        const version = (metadata as { schemaVersion?: unknown } | null)?.schemaVersion;
        const isNewer = Number.isInteger(version) && Number(version) > readable;
        const decode = () => family.decode({ type: 'Closed', data: {}, metadata });
        if (isNewer) expect(decode).toThrow(EventOfNewerVersion);
        else expect(decode()).toEqual({ type: 'Closed', data: {} });
      }),
    );
  });
});
