import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // Every tier by one pattern: `x.spec.ts`, `x.int.spec.ts`, and the end-to-end specs of the gateway.
    include: ['{libs,services,infra}/**/*.spec.ts'],
    // `npm run test:kafka` and `npm run test:eventstoredb` run those that need a server, `npm run test:faults` those that take
    // minutes.
    exclude: ['**/node_modules/**', '**/*.{kafka,eventstoredb,faults}.int.spec.ts'],
    passWithNoTests: false,
    allowOnly: false,
    // Two cores are the measure: more workers only make the socket tests wait for one another.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
});
