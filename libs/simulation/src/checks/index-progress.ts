/** I8: an index has every event up to the position that it reports. */
import type { RecordedEvent } from '@tollgate/event-store';
import type { GatewayProcess } from '../world/process.ts';
import type { Complain } from './books.ts';

export function createIndexChecks({ complain }: { complain: Complain }) {
  /** Ordered by position. */
  const changes: { token: string; position: string }[] = [];
  /** How many of the events each process's index has been seen to contain. */
  const seen = new WeakMap<GatewayProcess, number>();
  return {
    onRecorded: ({ stream, position }: RecordedEvent): void => {
      const token = /^(?:payment|payout)-(.+)$/.exec(stream)?.[1];
      if (token !== undefined) changes.push({ token, position });
    },
    /** Called when this process's index may have advanced, before any other reader. */
    onTaken: (process: GatewayProcess, name: string): void => {
      const { index } = process;
      const reached = index.position();
      const from = seen.get(process) ?? 0;
      const count = changes.slice(from).findIndex(({ position }) => position > reached);
      const passed = changes.slice(from, count === -1 ? undefined : from + count);
      seen.set(process, from + passed.length);
      for (const [token, position] of new Map(passed.map((each) => [each.token, each.position]))) {
        const shown = (index.find(token) ?? index.findPayout(token))?.position ?? '';
        if (shown < position)
          complain('I8', `the index of ${name} is at ${reached}, and has ${token} as of '${shown}'`);
      }
    },
  };
}
