/** A server of the specs as a process of its own; it prints its address as its first line. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export interface ServerProgram {
  address: string;
  /** Resolves when its process has ended. @param signal absent: it ends by itself */
  stop(signal: 'SIGTERM' | 'SIGKILL' | undefined): Promise<void>;
}

/** Resolves when it serves. */
export async function startServerProgram(path: string, argv: readonly string[]): Promise<ServerProgram> {
  // Its standard input ends with this process.
  const child = spawn(process.execPath, [path, ...argv], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  for await (const address of createInterface({ input: child.stdout }))
    return {
      address,
      stop: async (signal) => {
        if (signal !== undefined) child.kill(signal);
        await ended;
      },
    };
  throw new Error(`${path} did not start.`);
}
