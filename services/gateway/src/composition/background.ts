/** Work of a service that runs from its start until its stop. */

/** Does work while no other process does the work of that name; resolves when the signal is aborted and the work has ended. */
export type RunAlone = (
  name: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
) => Promise<void>;

/** Starts work that runs until its signal is aborted; returns a function that stops it. */
export function inBackground(work: (signal: AbortSignal) => Promise<void>): () => Promise<void> {
  const stopping = new AbortController();
  const running = work(stopping.signal);
  return async () => {
    stopping.abort();
    await running;
  };
}

/** @returns a function with its state; undefined while this replica stands by because another one does the work */
export function startAlone<Health>(
  name: string,
  service: { run(signal: AbortSignal): Promise<void>; health(): Health },
  { runAlone, stops }: { runAlone: RunAlone; stops: AsyncDisposableStack },
): () => Health | undefined {
  let isRunning = false;
  async function run(signal: AbortSignal): Promise<void> {
    isRunning = true;
    await service.run(signal).finally(() => (isRunning = false));
  }
  stops.defer(inBackground((signal) => runAlone(name, signal, run)));
  return () => (isRunning ? service.health() : undefined);
}
