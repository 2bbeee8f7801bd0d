/** Values that events of several kinds hold, and their limits. */
import { apiErrorSchema } from './money.ts';
import { z } from 'zod';

export const environmentSchema = z.enum(['sandbox', 'production']);
export type Environment = z.infer<typeof environmentSchema>;

/** Milliseconds since the Unix epoch. */
export const instantSchema = z.int().min(0);

/** Characters of a text in an event at most. Longer input is cut: an event that cannot be read back ends its stream. */
export const textLengthMax = 4096;
export const textSchema = z.string().max(textLengthMax);
export const cut = (text: string): string => text.slice(0, textLengthMax);

/** Characters of one text of a review's evidence at most: the provider's texts may have any length. */
const evidenceLengthMax = 256;
export const cutEvidence = (text: string): string => text.slice(0, evidenceLengthMax);

/** A sum as the provider reports it; null if it reports none. */
export const reportedSumSchema = z.union([z.number(), z.null()]);

/** Entries of an error list in an event at most. */
export const errorsMax = 50;
export const errorsSchema = z.array(apiErrorSchema).max(errorsMax);

/** Of a call that was refused: no inquiry has confirmed that it had no effect. */
export const unconfirmedSchema = errorsSchema.exactOptional();

/** Copies an object without its undefined fields. */
export function omitUndefined<Fields extends object>(fields: Fields) {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined) as { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };
}
