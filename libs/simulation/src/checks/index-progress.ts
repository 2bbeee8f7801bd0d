/** I8: an index has what it says that it has reached. Who waited for a position reads all that was recorded up to it. */
import type { RecordedEvent } from '@tollgate/event-store';
import type { GatewayProcess } from '../world/process.ts';
import type { Complain } from './books.ts';

export interface IndexChecks {
  onRecorded(event: RecordedEvent): void;
  /** The index of this process may have come further: looked at before anybody else can. */
  onTaken(process: GatewayProcess, name: string): void;
}

interface Changed {
  token: string;
  kind: 'payment' | 'payout';
  position: string;
}

export function createIndexChecks({ complain }: { complain: Complain }): IndexChecks {
  /** In the order of their positions. */
  const changes: Changed[] = [];
  /** Of each process, how many of them its index was seen to have. */
  const seen = new WeakMap<GatewayProcess, number>();
  return {
    onRecorded: ({ stream, position }) => {
      const [, kind, token] = /^(payment|payout)-(.+)$/.exec(stream) ?? [];
      if (token !== undefined) changes.push({ token, kind: kind as Changed['kind'], position });
    },
    onTaken: (process, name) => {
      const { index } = process;
      const reached = index.position();
      const from = seen.get(process) ?? 0;
      let to = from;
      while (to < changes.length && (changes[to] as Changed).position <= reached) to += 1;
      if (to === from) return;
      seen.set(process, to);
      const latest = new Map(changes.slice(from, to).map((each) => [each.token, each]));
      for (const { token, kind, position } of latest.values()) {
        const view = kind === 'payment' ? index.find(token) : index.findPayout(token);
        if (view === undefined || view.position < position)
          complain(
            'I8',
            `the index of ${name} has reached ${reached}, and shows ${token} as of ${view?.position ?? 'nothing'}, before ${position}`,
          );
      }
    },
  };
}
