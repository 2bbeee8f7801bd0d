/** CPU profiles by area: our packages, npm packages, Node modules, the garbage collector. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string } }[];
  samples: number[];
  /** Microseconds, one for each sample. */
  timeDeltas: number[];
}

export interface AreaTimes {
  file: string;
  totalMs: number;
  /** Largest first. */
  areas: { area: string; ms: number }[];
}

const waits = ['(idle)', '(program)'];

/** The threads of the process that ran longest in this directory, busiest first. */
export function readProfiles(directory: string): AreaTimes[] {
  const files = readdirSync(directory).filter((name) => name.endsWith('.cpuprofile'));
  return files.map((file) => timesOf(directory, file)).toSorted((one, other) => other.totalMs - one.totalMs);
}

function timesOf(directory: string, file: string): AreaTimes {
  const { nodes, samples, timeDeltas } = JSON.parse(
    readFileSync(join(directory, file), 'utf8'),
  ) as CpuProfile;
  const areaOfNode = new Map(nodes.map(({ id, callFrame }) => [id, areaOf(callFrame)]));
  const times = new Map<string, number>();
  for (const [index, node] of samples.entries()) {
    const area = areaOfNode.get(node);
    if (area !== undefined) times.set(area, (times.get(area) ?? 0) + (timeDeltas[index] ?? 0) / 1_000);
  }
  const areas = [...times].map(([area, ms]) => ({ area, ms })).toSorted((one, other) => other.ms - one.ms);
  return { file, totalMs: areas.reduce((sum, { ms }) => sum + ms, 0), areas };
}

/** Undefined for time in which the thread waits. */
function areaOf({ functionName, url }: CpuProfile['nodes'][number]['callFrame']): string | undefined {
  if (waits.includes(functionName)) return undefined;
  if (functionName === '(garbage collector)') return 'garbage collector';
  const [, ours] = /\/((?:libs\/modules|libs|services)\/[^/]+)\/(?:src|bench)\//.exec(url) ?? [];
  if (ours !== undefined) return ours;
  const [, npm] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url) ?? [];
  if (npm !== undefined) return npm;
  return url.startsWith('node:') ? url.split('/').slice(0, 2).join('/') : `native ${functionName}`;
}
