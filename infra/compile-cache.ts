import { join } from 'node:path';

/**
 * Node's compile cache for programs started by specs: it halves the start-up cost, and there are hundreds of starts.
 */
export const compileCache = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../node_modules/.cache/node-compile-cache'),
};
