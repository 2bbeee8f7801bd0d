import { defineConfig } from 'vitest/config';

// `npm run test:browser`: what needs a browser, which `npm test` must not.
export default defineConfig({
  test: {
    include: ['services/*/browser/**/*.browser.ts'],
    passWithNoTests: false,
    allowOnly: false,
    // Each file has a browser of its own.
    maxWorkers: 1,
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
});
