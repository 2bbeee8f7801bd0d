import { join } from 'node:path';

/** Where the programs that specs start keep what Node has compiled: it halves what a start costs, and there are hundreds. */
export const compileCache = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../node_modules/.cache/node-compile-cache'),
};
