import { defineConfig } from 'vitest/config';

// `npm run test:kafka`: what needs a real Kafka broker, which `npm test` must not.
export default defineConfig({
  test: {
    include: ['{libs,services}/**/*.kafka.int.spec.ts'],
    passWithNoTests: false,
    allowOnly: false,
    // They share one broker; side by side they would only wait for one another.
    maxWorkers: 1,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
