import type { Clock } from '@tollgate/service-kit';

/** The service's own time: the machine's clock and an offset that a tester can grow. */
export interface SandboxClock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** How far ahead of the machine's clock it is, in milliseconds. */
  offsetMs(): number;
  advance(byMs: number): void;
}

export function createSandboxClock(clock: Pick<Clock, 'now'>, initialOffsetMs: number): SandboxClock {
  let offsetMs = initialOffsetMs;
  return {
    now: () => clock.now() + offsetMs,
    offsetMs: () => offsetMs,
    advance: (byMs) => {
      offsetMs += byMs;
    },
  };
}
