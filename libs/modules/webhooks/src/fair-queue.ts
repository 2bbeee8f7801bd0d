/** The order of deliveries: round-robin over receivers, with limits on concurrent attempts. */

export interface Limits {
  /** Maximum concurrent attempts in total. */
  total: number;
  /** Per team, so that several slow receivers of one team leave room for others. */
  perTeam: number;
  /** Per team and origin. */
  perOrigin: number;
}

export const limitsDefault: Limits = { total: 256, perTeam: 8, perOrigin: 4 };

/** Destination of the webhooks of a payment or payout. */
export interface Receiver {
  team: string;
  origin: string;
}

interface Queue {
  team: string;
  ready: Set<string>;
  busy: number;
}

export function createFairQueue(limits: Limits) {
  // In the order of turns: a served queue goes to the end.
  const queues = new Map<string, Queue>();
  const busyByTeam = new Map<string, number>();
  let busy = 0;

  const keyOf = ({ team, origin }: Receiver): string => JSON.stringify([team, origin]);

  function dropIfIdle(key: string, { busy: busyInQueue, ready }: Queue): void {
    if (busyInQueue === 0 && ready.size === 0) queues.delete(key);
  }

  function count(queue: Queue, change: 1 | -1): void {
    const ofTeam = (busyByTeam.get(queue.team) ?? 0) + change;
    if (ofTeam === 0) busyByTeam.delete(queue.team);
    else busyByTeam.set(queue.team, ofTeam);
    queue.busy += change;
    busy += change;
  }

  const hasRoom = (queue: Queue): boolean =>
    queue.busy < limits.perOrigin && (busyByTeam.get(queue.team) ?? 0) < limits.perTeam;

  return {
    /** Joins the queue of its receiver. */
    join(token: string, receiver: Receiver): void {
      const key = keyOf(receiver);
      const queue = queues.get(key) ?? { team: receiver.team, ready: new Set(), busy: 0 };
      queue.ready.add(token);
      queues.set(key, queue);
    },
    /** Leaves the queue of its receiver, if it is there. */
    leave(token: string, receiver: Receiver): void {
      const key = keyOf(receiver);
      const queue = queues.get(key);
      if (queue?.ready.delete(token) === true) dropIfIdle(key, queue);
    },
    /** Takes the next one whose receiver has room; it is then busy. Undefined if there is none. */
    take(): string | undefined {
      if (busy >= limits.total) return undefined;
      for (const [key, queue] of queues) {
        const [token] = queue.ready;
        if (token === undefined || !hasRoom(queue)) continue;
        queue.ready.delete(token);
        count(queue, 1);
        queues.delete(key);
        queues.set(key, queue);
        return token;
      }
      return undefined;
    },
    /** Ends a turn. */
    end(receiver: Receiver): void {
      const key = keyOf(receiver);
      const queue = queues.get(key);
      if (queue === undefined) return;
      count(queue, -1);
      dropIfIdle(key, queue);
    },
  };
}
