/** Serializes work by key in this process, so that it does not compete with itself for one stream. */
export function createKeyedMutex() {
  const last = new Map<string, Promise<unknown>>();
  return {
    /** Runs `work` after all earlier work of this key. */
    run<Value>(key: string, work: () => Promise<Value>): Promise<Value> {
      const earlier = last.get(key) ?? Promise.resolve();
      const mine = earlier.then(work, work);
      const ended = mine
        .catch(() => undefined)
        .finally(() => {
          if (last.get(key) === ended) last.delete(key);
        });
      last.set(key, ended);
      return mine;
    },
  };
}
