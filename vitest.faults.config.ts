import { defineConfig } from 'vitest/config';
import { compileCache } from './infra/compile-cache.ts';

// `npm run test:faults`: whole systems under lost answers, killed processes and failing accounts. Takes minutes, where
// `npm test` must not.
export default defineConfig({
  test: {
    env: compileCache,
    include: ['services/**/*.faults.int.spec.ts'],
    passWithNoTests: false,
    allowOnly: false,
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
