/**
 * A schema changed under its version would take stored documents for what they are not, and nothing would fold them
 * again: the checkpoints and the index know documents by their version alone.
 */
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { viewKinds } from './view-kinds.ts';
import { totalsViewSchema, totalsViewSchemaVersion } from './totals-view.ts';

/** By document, its version and what its schema is in this version. */
const known: Record<string, [version: number, schema: string]> = {
  payment: [4, '9ade2ce15b2c'],
  payout: [3, 'b85e85198ef3'],
  dispute: [1, '65a12860b2bd'],
  totals: [1, '643ee29ea29e'],
};

/** Also of the order of its fields, which is that of the bytes that are stored. */
function fingerprintOf(schema: z.ZodType): string {
  // What a function checks is not in it: of that, nobody is told.
  const text = JSON.stringify(z.toJSONSchema(schema, { unrepresentable: 'any' }));
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

const views: [string, number, z.ZodType][] = [
  ...viewKinds.map((kind): [string, number, z.ZodType] => [kind.name, kind.schemaVersion, kind.schema]),
  ['totals', totalsViewSchemaVersion, totalsViewSchema],
];

it('every document is known', () => {
  expect(views.map(([name]) => name)).toEqual(Object.keys(known));
});

it.each(views)(
  'the schema of a %s document stays as it is while its version does',
  (name, version, schema) => {
    const advice =
      known[name]?.[0] === version
        ? `The schema of the ${name} document has changed: raise ${name}ViewSchemaVersion, and write down both here.`
        : `The ${name} document has another version: write down the version and its schema here.`;
    expect([version, fingerprintOf(schema)], advice).toEqual(known[name]);
  },
);
