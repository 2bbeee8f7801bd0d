import { describe, expect, it } from 'vitest';
import { propertyRuns } from './property-runs.ts';

describe('the runs of a property test', () => {
  it('never exceed the full number, and stay at ten or more', () => {
    expect(propertyRuns(5)).toBe(5);
    expect(propertyRuns(40)).toBeGreaterThanOrEqual(10);
    expect(propertyRuns(2_000)).toBeLessThanOrEqual(2_000);
  });
});
