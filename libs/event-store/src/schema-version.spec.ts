import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { EventOfNewerVersion, eventFamily } from './schema-version.ts';

const readable = 3;

/** As in a later release: a field of version 2, and a type of version 3. */
const schemas = {
  Opened: z.object({ sum: z.int(), note: z.string().optional() }),
  Noted: z.object({ text: z.string() }),
  Closed: z.object({}),
} as const;
const family = eventFamily(
  schemas,
  { needs: { Opened: ({ note }) => (note === undefined ? 1 : 2), Noted: () => 3 } },
  readable,
);

it.each([
  ['of a type that has not changed', { type: 'Closed', data: {} }, 1],
  ['without the added field', { type: 'Opened', data: { sum: 1 } }, 1],
  ['with the added field', { type: 'Opened', data: { sum: 1, note: 'x' } }, 2],
  ['of an added type', { type: 'Noted', data: { text: 'x' } }, 3],
] as const)('an event %s is stamped with the version that its reader needs', (_case, event, version) => {
  expect(family.versionOf(event)).toBe(version);
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
        upcasters: {
          Priced: [
            { until: 2, upcast: (data) => ({ value: (data as { sum: number }).sum }) },
            { until: 3, upcast: (data) => ({ amount: (data as { value: number }).value, currency: 'EUR' }) },
          ],
        },
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
