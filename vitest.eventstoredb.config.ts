import { defineConfig } from 'vitest/config';

// `npm run test:eventstoredb`: what needs an EventStoreDB, and takes longer than `npm test` may.
export default defineConfig({
  test: {
    include: ['{libs,services}/**/*.eventstoredb.int.spec.ts'],
    passWithNoTests: false,
    allowOnly: false,
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
