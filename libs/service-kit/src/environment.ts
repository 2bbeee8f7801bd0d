import { z } from 'zod';

/** The provider's two environments: nothing of one is visible in the other. */
export const environmentSchema = z.enum(['sandbox', 'production']);
export type Environment = z.infer<typeof environmentSchema>;
