/** Values shared by events of several kinds, and their limits. */
import { apiErrorSchema } from './money.ts';
import { z } from 'zod';

/** Milliseconds since the Unix epoch. */
export const instantSchema = z.int().min(0);

/** Maximum length of a text in an event. Longer input is cut: an event that cannot be read back ends its stream. */
export const textLengthMax = 4096;
export const textSchema = z.string().max(textLengthMax);
export const cut = (text: string): string => text.slice(0, textLengthMax);

/** Maximum length of one text in a review's evidence; the provider's texts have no limit. */
const evidenceLengthMax = 256;
export const cutEvidence = (text: string): string => text.slice(0, evidenceLengthMax);

/** A sum reported by the provider; null if none. */
export const reportedSumSchema = z.union([z.number(), z.null()]);

/** Maximum entries of an error list in an event. */
export const errorsMax = 50;
export const errorsSchema = z.array(apiErrorSchema).max(errorsMax);

/** The refusal of a call that no inquiry has confirmed. */
export const unconfirmedSchema = errorsSchema.exactOptional();

export { type Environment, environmentSchema } from '@tollgate/service-kit/environment';
export { omitUndefined } from '@tollgate/service-kit/omit-undefined';
