import { defineConfig } from 'vitest/config';

// `npm run test:faults`: whole systems under lost answers, killed processes and failing accounts. Takes minutes, where
// `npm test` must not.
export default defineConfig({
  test: {
    include: ['services/gateway/e2e/**/*.faults.int.spec.ts'],
    passWithNoTests: false,
    allowOnly: false,
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
