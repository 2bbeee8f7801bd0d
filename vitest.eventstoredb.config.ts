import { defineConfig } from 'vitest/config';
import { compileCache } from './infra/compile-cache.ts';

// `npm run test:eventstoredb`: what needs an EventStoreDB, and takes longer than `npm test` may.
export default defineConfig({
  test: {
    env: compileCache,
    include: ['{libs,services}/**/*.eventstoredb.int.spec.ts'],
    passWithNoTests: false,
    allowOnly: false,
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
