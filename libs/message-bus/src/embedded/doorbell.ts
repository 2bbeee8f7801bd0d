/** Wakes a waiting reader, and loses no ring that comes while it is not waiting. */
export interface Doorbell {
  /** Take it before reading, and pass it to `after`. */
  count(): number;
  ring(): void;
  /** Resolves when it has rung since `count` was taken, or when the signal is aborted. */
  after(count: number, signal: AbortSignal): Promise<void>;
}

export function createDoorbell(): Doorbell {
  const sleepers = new Set<() => void>();
  let rings = 0;
  return {
    count: () => rings,
    ring: () => {
      rings += 1;
      for (const wake of [...sleepers]) wake();
    },
    after: (count, signal) =>
      new Promise((resolve) => {
        if (signal.aborted || count !== rings) return resolve();
        const wake = () => {
          sleepers.delete(wake);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        sleepers.add(wake);
        signal.addEventListener('abort', wake, { once: true });
      }),
  };
}
