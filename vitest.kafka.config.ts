import { defineConfig } from 'vitest/config';
import { compileCache } from './infra/compile-cache.ts';

// `npm run test:kafka`: what needs a real Kafka broker, which `npm test` must not.
export default defineConfig({
  test: {
    env: compileCache,
    include: ['{libs,services}/**/*.kafka.int.spec.ts'],
    passWithNoTests: false,
    allowOnly: false,
    // Most of their time they wait: for sessions to end, for brokers to start.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
