/** Network partitions between two parties, in one direction or both. */
import type { Random } from './random.ts';

const peers = ['store', 'service', 'teams', 'receivers'];
const durationsMs = [2_000, 20_000, 120_000, 400_000];

export type Partitions = ReturnType<typeof createPartitions>;

export function createPartitions(now: () => number) {
  const until = new Map<string, number>();
  return {
    /** True if messages from one to the other are lost now; one of the two is a machine, by its name. */
    isCut: (from: string, to: string): boolean => now() < (until.get(`${from}>${to}`) ?? 0),
    /** Cuts the connection between a machine and one of its peers. Returns a description for the trace. */
    cut: (machine: string, random: Random): string => {
      const peer = random.pick(peers);
      const ways = random.pick([['there'], ['back'], ['there', 'back'], ['there', 'back']]);
      const durationMs = random.pick(durationsMs) * random.between(0.5, 1.5);
      if (ways.includes('there')) until.set(`${machine}>${peer}`, now() + durationMs);
      if (ways.includes('back')) until.set(`${peer}>${machine}`, now() + durationMs);
      return `${machine} and ${peer} (${ways.join(' and ')}) for ${Math.round(durationMs / 1_000)} s`;
    },
    heal: () => until.clear(),
  };
}
