/** Work of a service that runs from its start until its stop. */
import type { OnStop } from './gateway.ts';
import type { RunAlone } from './parts.ts';

/** Begins work that runs until its signal is aborted, and gives what stops it. */
export function inBackground(work: (signal: AbortSignal) => Promise<void>): () => Promise<void> {
  const stopping = new AbortController();
  const running = work(stopping.signal);
  return async () => {
    stopping.abort();
    await running;
  };
}

/** @returns what tells how it is; undefined while this replica stands by, because another one does its work. */
export function startAlone<Health>(
  name: string,
  service: { run(signal: AbortSignal): Promise<void>; health(): Health },
  { runAlone, onStop }: { runAlone: RunAlone; onStop: OnStop },
): () => Health | undefined {
  let isRunning = false;
  async function run(signal: AbortSignal): Promise<void> {
    isRunning = true;
    await service.run(signal).finally(() => (isRunning = false));
  }
  onStop(inBackground((signal) => runAlone(name, signal, run)));
  return () => (isRunning ? service.health() : undefined);
}
