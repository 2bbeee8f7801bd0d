import { defineConfig } from 'vitest/config';
import { compileCache } from './infra/compile-cache.ts';

/** In front of everything at once; `npm test` runs it in front of one process. */
const conformsIn = 'services-eventstoredb-kafka';
const arrangement = process.env['TOLLGATE_ARRANGEMENT'];

// `npm run test:arrangements`: the end-to-end specs with the system in another arrangement than the one of `npm test`.
export default defineConfig({
  test: {
    env: compileCache,
    include: ['services/gateway/e2e/**/*.int.spec.ts'],
    exclude: [
      '**/*.{kafka,eventstoredb,faults}.int.spec.ts',
      // These start no system.
      '**/{tail,example-consumer}.int.spec.ts',
      ...(arrangement === conformsIn ? [] : ['**/conformance.int.spec.ts']),
    ],
    passWithNoTests: false,
    allowOnly: false,
    // Each system is up to ten processes.
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 180_000,
  },
});
