/** A gateway that is started again whenever it ends, as by the machine that it runs on. */
import { setTimeout as delay } from 'node:timers/promises';
import type { System } from '../system.ts';

export interface Supervised {
  name: string;
  /** As it runs now, or ran last. */
  system(): System;
  /** `kill -9`; resolves when it runs again. */
  kill(): Promise<void>;
  /** How it has ended though nobody killed it. */
  ownEnds: readonly string[];
  /** What it has printed, over all its runs. */
  output(): string;
  /** For good. */
  end(): Promise<void>;
}

/** As long as what it needs may be away, and the machine may be busy. */
const startsAgainWithinMs = 300_000;
const startPauseMs = 500;
const linesShown = 3;

export function supervise(name: string, first: System): Supervised {
  const printed: string[] = [];
  const ownEnds: string[] = [];
  let [system, isAsked] = [first, false];
  let up: Promise<void> = Promise.resolve();

  /** A start may fail, as long as the disk is full or the event store away. */
  async function startAgain(): Promise<void> {
    printed.push(system.output());
    const giveUpAt = Date.now() + startsAgainWithinMs;
    for (;;) {
      try {
        system = await system.restart();
        watch();
        return;
      } catch (error) {
        printed.push(String(error));
        if (Date.now() > giveUpAt) throw error;
        await delay(startPauseMs);
      }
    }
  }

  function begin(starting: () => Promise<void>): Promise<void> {
    up = up.then(starting);
    up.catch(() => undefined);
    return up;
  }

  function watch(): void {
    isAsked = false;
    const { ended, output, kill } = system;
    void ended().then((code) => {
      if (isAsked) return;
      const lines = output().trimEnd().split('\n').slice(-linesShown).join('\n');
      ownEnds.push(`${name} ended with ${code}: ${lines}`);
      return begin(() => kill().then(startAgain)).catch(() => undefined);
    });
  }

  watch();
  return {
    ...{ name, ownEnds },
    system: () => system,
    kill: () =>
      begin(async () => {
        isAsked = true;
        await system.kill();
        await startAgain();
      }),
    output: () => [...printed, system.output()].join('\n'),
    end: async () => {
      await up.catch(() => undefined);
      isAsked = true;
      await system.kill();
    },
  };
}
