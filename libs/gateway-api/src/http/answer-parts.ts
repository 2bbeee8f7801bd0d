/** Parts shared by answers of several resources. */
import { z } from 'zod';

export const page = {
  perPage: z.int().min(1),
  nextCursor: z.string().exactOptional().describe('Cursor of the next page; absent on the last page.'),
};

const success = z.literal(true);

export const answer = <Fields extends Readonly<Record<string, z.ZodType>>>(fields: Fields) =>
  z.object({ success, ...fields });

export const pageOf = <Fields extends Readonly<Record<string, z.ZodType>>>(fields: Fields) =>
  answer({ ...fields, ...page });
