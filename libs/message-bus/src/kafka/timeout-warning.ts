const hidden = 'TimeoutNegativeWarning';
const filtering = new WeakSet<object>();

/**
 * kafkajs arms timers with negative durations whenever a connection is idle, and Node warns of it. Hides that one warning,
 * by its name, for the rest of the process.
 */
export function hideTimeoutNegativeWarning(target: Pick<NodeJS.Process, 'emitWarning'> = process): void {
  if (filtering.has(target)) return;
  filtering.add(target);
  const original = target.emitWarning;
  const filtered = (...args: Parameters<typeof original>) => {
    if (nameOf(args) !== hidden) original.apply(target, args);
  };
  target.emitWarning = filtered as typeof original;
}

function nameOf([warning, given]: readonly unknown[]): unknown {
  if (warning instanceof Error) return warning.name;
  if (typeof given === 'object' && given !== null && 'type' in given) return given.type;
  return given;
}
