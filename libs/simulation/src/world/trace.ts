/** What happened, as a hash that two runs of one seed share, and as lines that a person can read. */

export interface Trace {
  /** Each step of the scheduler. */
  step(atMs: number, label: string): void;
  /** What a reader of the story wants to know. */
  tell(text: string): void;
  hash(): string;
  /** The last lines of the story; all of them where everything is kept. */
  lines(): readonly string[];
  steps(): number;
}

/** Lines of the story that are kept for a failure. */
const linesKept = 400;

export function createTrace({
  isWhole = false,
  now = () => 0,
}: { isWhole?: boolean; now?: () => number } = {}): Trace {
  let [high, low] = [0x811c9dc5, 0x9e3779b9];
  const number = new Float64Array(1);
  const halves = new Uint32Array(number.buffer);
  let steps = 0;
  const lines: string[] = [];

  function mix(text: string): void {
    for (let index = 0; index < text.length; index += 1) {
      const code = text.charCodeAt(index);
      high = Math.imul(high ^ code, 0x01000193);
      low = Math.imul(low ^ (code + index), 0x85ebca6b) ^ (high >>> 13);
    }
  }

  function mixNumber(value: number): void {
    number[0] = value;
    for (const half of halves) {
      high = Math.imul(high ^ half, 0x01000193);
      low = Math.imul(low ^ half, 0x85ebca6b) ^ (high >>> 13);
    }
  }

  return {
    step: (atMs, label) => {
      steps += 1;
      mix(label);
      mixNumber(atMs);
    },
    tell: (text) => {
      mix(text);
      lines.push(`${formatTime(now())}  ${text}`);
      if (!isWhole && lines.length > 2 * linesKept) lines.splice(0, linesKept);
    },
    hash: () => [high, low].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join(''),
    lines: () => (isWhole ? lines : lines.slice(-linesKept)),
    steps: () => steps,
  };
}

export function formatTime(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  const parts = [hours, minutes, seconds % 60].map((part) => String(part).padStart(2, '0'));
  return `${parts.join(':')}.${String(Math.floor(ms) % 1_000).padStart(3, '0')}`;
}
