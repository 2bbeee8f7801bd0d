import { defineConfig } from 'vitest/config';

// `npm run test:kafka`: what needs a real Kafka broker, which `npm test` must not.
export default defineConfig({
  test: {
    include: ['{libs,services}/**/*.kafka.int.spec.ts'],
    passWithNoTests: false,
    allowOnly: false,
    // Most of their time they wait: for sessions to end, for brokers to start.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
