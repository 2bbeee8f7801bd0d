import type { z } from 'zod';

/** The names of the environment variables that a schema reads. */
export function variableNames({ _zod: { def } }: z.core.$ZodType): string[] {
  if (def.type === 'object') return Object.keys((def as z.core.$ZodObjectDef).shape);
  if (def.type === 'pipe') return variableNames((def as z.core.$ZodPipeDef).in);
  if (def.type !== 'intersection') return [];
  const { left, right } = def as z.core.$ZodIntersectionDef;
  return [...variableNames(left), ...variableNames(right)];
}
