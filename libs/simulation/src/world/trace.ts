/** The trace: a hash that is equal for two runs of one seed, and lines for people. */
import { createHash } from 'node:crypto';

/** Number of trace lines kept for a failure. */
const linesKept = 400;

export type Trace = ReturnType<typeof createTrace>;

export function createTrace({ isWhole, now }: { isWhole: boolean; now: () => number }) {
  const hash = createHash('sha256');
  let steps = 0;
  const lines: string[] = [];
  return {
    /** Called for each step of the scheduler. */
    step: (atMs: number, label: string): void => {
      steps += 1;
      hash.update(`${atMs} ${label}\n`);
    },
    /** Adds a line for the reader of the trace. */
    tell: (text: string): void => {
      hash.update(text);
      lines.push(`${formatTime(now())}  ${text}`);
      if (!isWhole && lines.length > 2 * linesKept) lines.splice(0, linesKept);
    },
    hash: () => hash.copy().digest('hex').slice(0, 16),
    /** The last lines of the trace; all of them if everything is kept. */
    lines: (): readonly string[] => (isWhole ? lines : lines.slice(-linesKept)),
    steps: () => steps,
  };
}

export const formatTime = (ms: number): string => {
  const hours = Math.floor(ms / 3_600_000);
  return `${String(hours).padStart(2, '0')}${new Date(ms).toISOString().slice(13, 23)}`;
};
