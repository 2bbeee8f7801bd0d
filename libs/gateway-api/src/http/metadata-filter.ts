/** Filters a list by metadata: `metadata=order:4711`, repeated for several entries. */
import { metadataLimits } from '@tollgate/core';
import { z } from 'zod';

/** Each further filter looks up one row for every match of the first one. */
export const metadataFiltersMax = 5;

/** `<name>:<value>`; a name cannot contain a colon. */
export const metadataFilterPattern = `^[A-Za-z0-9_.-]{1,${metadataLimits.name}}:[\\s\\S]{0,${metadataLimits.value}}$`;

const entrySchema = z
  .string()
  .regex(new RegExp(metadataFilterPattern), 'must be a name and a value such as order:4711')
  .transform((entry): [string, string] => {
    const at = entry.indexOf(':');
    return [entry.slice(0, at), entry.slice(at + 1)];
  });

/** The entries by name. */
export const metadataFilterSchema = z
  .preprocess(
    (given) => (typeof given === 'string' ? [given] : given),
    z
      .array(entrySchema)
      .max(metadataFiltersMax, `must be given at most ${metadataFiltersMax} times`)
      .refine(
        (all) => new Set(all.map(([name]) => name)).size === all.length,
        'must be given once for each name',
      )
      .transform((all): Record<string, string> => Object.fromEntries(all)),
  )
  .optional();
