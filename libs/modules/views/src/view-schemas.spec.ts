/** Views are identified by their version alone: a schema changed under its version would be misread. */
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { viewSchemaVersion } from './view-kind.ts';
import { viewKinds } from './view-kinds.ts';

/** Includes the order of the fields, which is that of the stored bytes; checks by functions are not in it. */
const fingerprintOf = (schema: z.ZodType): string =>
  createHash('sha256')
    .update(JSON.stringify(z.toJSONSchema(schema, { unrepresentable: 'any' })))
    .digest('hex')
    .slice(0, 12);

it('the schemas of views change only with their version: raise viewSchemaVersion, and record both here', () => {
  expect({
    version: viewSchemaVersion,
    ...Object.fromEntries(viewKinds.map(({ name, schema }) => [name, fingerprintOf(schema)])),
  }).toEqual({
    version: 1,
    payment: 'cdbb2a9d89b9',
    payout: '74d6556e3ce2',
    dispute: '08ffb42f86a1',
    transfer: '2422e7c596eb',
    unmatched: '4b122506364b',
  });
});
