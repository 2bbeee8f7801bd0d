/** Work by name, one after the other in this process: what writes one stream does not compete with itself. */
export interface Turns {
  /** Runs `work` when all that was asked for before it under this name has ended. */
  take<Value>(name: string, work: () => Promise<Value>): Promise<Value>;
}

export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return {
    take(name, work) {
      const before = last.get(name) ?? Promise.resolve();
      const mine = before.then(work, work);
      const ended = mine
        .catch(() => undefined)
        .finally(() => {
          if (last.get(name) === ended) last.delete(name);
        });
      last.set(name, ended);
      return mine;
    },
  };
}
