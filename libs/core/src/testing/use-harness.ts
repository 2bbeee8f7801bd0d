import { afterEach, beforeEach, expect } from 'vitest';
import { type Harness, type HarnessOptions, createHarness } from './harness.ts';

/** A harness for each test of a file or group. After each test, checks that no permit was lost. */
export function useHarness(options: () => HarnessOptions = () => ({})): () => Harness {
  let harness: Harness | undefined;
  beforeEach(async () => {
    harness = await createHarness(options());
  });
  afterEach(async () => {
    await harness?.idle();
    const permitsOut = harness?.permitsOut();
    await harness?.close();
    expect(permitsOut, 'permits that were never released').toBe(0);
  });
  return () => {
    if (harness === undefined) throw new Error('there is a harness only within a test');
    return harness;
  };
}
