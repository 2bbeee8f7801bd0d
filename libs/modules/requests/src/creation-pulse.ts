/**
 * Creations of the last hour, minute by minute, as reported to this process. In memory: a new process begins with an empty
 * hour.
 */
import { routes } from '@tollgate/gateway-api/http';
import { type Clock, minuteMs } from '@tollgate/service-kit';
import type { RequestRecord } from './request-record.ts';

export interface CreationPulse {
  note(record: Pick<RequestRecord, 'method' | 'route' | 'status' | 'durationMs' | 'providerMs'>): void;
  /** The last 60 minutes, the oldest first; the last one is under way. */
  minutes(): CreationMinute[];
}

export interface CreationMinute {
  /** Start, milliseconds since the Unix epoch. */
  minute: number;
  /** Payments created, answered 2xx. */
  created: number;
  /** Absent if none was answered. */
  ownMs?: Spread;
  /** Duration of calls to the Payment Service; absent if none was made. */
  providerMs?: Spread;
}

/** Milliseconds, within a tenth. */
interface Spread {
  p50: number;
  p99: number;
}

const minutesKept = 60;
const { method, url } = routes.createPayment;

export function createCreationPulse(clock: Pick<Clock, 'now'>): CreationPulse {
  const byMinute = new Map<number, ReturnType<typeof createMinute>>();
  const thisMinute = () => Math.floor(clock.now() / minuteMs);

  function forget(now: number): void {
    // Includes those of a clock that ran ahead.
    for (const minute of byMinute.keys())
      if (minute <= now - minutesKept || minute > now) byMinute.delete(minute);
  }

  return {
    note(record) {
      if (record.method !== method || record.route !== url || record.status === undefined) return;
      const now = thisMinute();
      if (!byMinute.has(now)) forget(now);
      const counted = byMinute.get(now) ?? createMinute();
      byMinute.set(now, counted);
      if (record.status < 300) counted.created += 1;
      counted.own.add(record.durationMs - record.providerMs);
      if (record.providerMs > 0) counted.provider.add(record.providerMs);
    },
    minutes() {
      const now = thisMinute();
      return Array.from({ length: minutesKept }, (_, place) => {
        const minute = now - minutesKept + 1 + place;
        const counted = byMinute.get(minute);
        const at = { minute: minute * minuteMs };
        if (counted === undefined) return { ...at, created: 0 };
        const [ownMs, providerMs] = [counted.own.spread(), counted.provider.spread()];
        return {
          ...at,
          created: counted.created,
          ...(ownMs === undefined ? {} : { ownMs }),
          ...(providerMs === undefined ? {} : { providerMs }),
        };
      });
    },
  };
}

const createMinute = () => ({ created: 0, own: createTimes(), provider: createTimes() });

/** Counted in steps of a tenth: a minute costs the same at any load. */
const step = 1.1;
const firstMs = 0.1;

function createTimes() {
  const counts = new Map<number, number>();
  let total = 0;
  const stepOf = (ms: number) => Math.max(0, Math.ceil(Math.log(ms / firstMs) / Math.log(step)));
  function quantile(share: number): number {
    const wanted = Math.ceil(total * share);
    let seen = 0;
    for (const [place, count] of [...counts].toSorted(([one], [other]) => one - other)) {
      seen += count;
      if (seen >= wanted) return Number((firstMs * step ** place).toPrecision(2));
    }
    return 0;
  }
  return {
    add(ms: number): void {
      const place = stepOf(ms);
      counts.set(place, (counts.get(place) ?? 0) + 1);
      total += 1;
    },
    spread: () => (total === 0 ? undefined : { p50: quantile(0.5), p99: quantile(0.99) }),
  };
}
