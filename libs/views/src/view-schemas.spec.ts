/**
 * A schema changed under its version would take stored views for what they are not, and nothing would fold them
 * again: the checkpoints and the index know views by their version alone.
 */
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { viewKinds } from './view-kinds.ts';

/** The version of each view, with the schema of that version. */
const known: Record<string, [version: number, schema: string]> = {
  payment: [12, 'c9d237cc8e2a'],
  payout: [10, 'f07b47fdaa03'],
  dispute: [1, '65a12860b2bd'],
  unmatched: [3, '2fc9a5484b2e'],
};

/** Also of the order of its fields, which is that of the bytes that are stored. */
function fingerprintOf(schema: z.ZodType): string {
  // Checks by functions are not in it: their changes go unnoticed here.
  const text = JSON.stringify(z.toJSONSchema(schema, { unrepresentable: 'any' }));
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}

const views = viewKinds.map((kind): [string, number, z.ZodType] => [
  kind.name,
  kind.schemaVersion,
  kind.schema,
]);

it('every view is known', () => {
  expect(views.map(([name]) => name)).toEqual(Object.keys(known));
});

it.each(views)('the schema of a %s view stays as it is while its version does', (name, version, schema) => {
  const advice =
    known[name]?.[0] === version
      ? `The schema of the ${name} view has changed: raise ${name}ViewSchemaVersion, and record both here.`
      : `The ${name} view has another version: record the version and its schema here.`;
  expect([version, fingerprintOf(schema)], advice).toEqual(known[name]);
});
