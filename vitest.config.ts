import { defineConfig } from 'vitest/config';
import { compileCache } from './infra/compile-cache.ts';

/** `npm run test:kafka`, `test:eventstoredb` and `test:faults` run those that need a server, or take minutes. */
const elsewhere = '**/*.{kafka,eventstoredb,faults}.int.spec.ts';
const withoutTouchingAnything = '{libs,services,infra}/**/*.spec.ts';
const withRealParts = '{libs,services,infra}/**/*.int.spec.ts';
const endToEnd = 'services/gateway/e2e/**/*.spec.ts';
const notOurs = '**/node_modules/**';

export default defineConfig({
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'pure',
          include: [withoutTouchingAnything],
          exclude: [notOurs, withRealParts, endToEnd],
          // They touch nothing outside of themselves, so files may share a worker and what it has imported.
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: 'real', include: [withRealParts, endToEnd], exclude: [notOurs, elsewhere] },
      },
    ],
    env: compileCache,
    passWithNoTests: false,
    allowOnly: false,
    // Two cores are the measure: more workers only make the socket tests wait for one another.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 30_000,
  },
});
