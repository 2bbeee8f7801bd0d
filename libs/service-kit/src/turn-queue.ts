/** A queue of several groups: first come, first served within a group, and groups in turn. */
export function createTurnQueue<Entry>() {
  const byGroup = new Map<string, Entry[]>();
  return {
    isEmpty: () => byGroup.size === 0,
    lengthOf: (group: string) => byGroup.get(group)?.length ?? 0,
    has: (group: string, entry: Entry) => byGroup.get(group)?.includes(entry) ?? false,
    /** False if it has already left. */
    remove(group: string, entry: Entry): boolean {
      const before = byGroup.get(group) ?? [];
      const after = before.filter((each) => each !== entry);
      if (after.length > 0) byGroup.set(group, after);
      else byGroup.delete(group);
      return after.length < before.length;
    },
    push(group: string, entry: Entry) {
      const waiting = byGroup.get(group);
      if (waiting === undefined) byGroup.set(group, [entry]);
      else waiting.push(entry);
    },
    shift(): Entry | undefined {
      for (const [group, waiting] of byGroup) {
        byGroup.delete(group);
        const first = waiting.shift();
        if (waiting.length > 0) byGroup.set(group, waiting);
        return first;
      }
      return undefined;
    },
    clear: () => {
      const all = [...byGroup.values()].flat();
      byGroup.clear();
      return all;
    },
  };
}
