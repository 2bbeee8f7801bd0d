/**
 * Durations of the creations of the last 24 hours, hour by hour, as reported to this process. Kept in memory: a process that
 * starts has none.
 */
import { routes } from '@tollgate/gateway-api/http';
import { type Clock, hourMs } from '@tollgate/service-kit';
import type { RequestRecord } from './request-record.ts';

export interface CreationHour {
  /** Its begin, milliseconds since the Unix epoch. */
  hour: number;
  ownMs: Spread;
  /** Duration of calls of the Payment Service; absent if none was made. */
  providerMs?: Spread;
}

/** Milliseconds, within a tenth. */
interface Spread {
  p50: number;
  p99: number;
}

const hoursKept = 24;
const { method, url } = routes.createPayment;

export function createCreationPulse(clock: Pick<Clock, 'now'>) {
  const byHour = new Map<number, { own: Times; provider: Times }>();

  function forgetOld(): void {
    const now = Math.floor(clock.now() / hourMs);
    // A clock that ran ahead leaves later hours.
    for (const hour of byHour.keys()) if (hour <= now - hoursKept || hour > now) byHour.delete(hour);
  }

  return {
    note(record: Pick<RequestRecord, 'method' | 'route' | 'status' | 'durationMs' | 'providerMs'>): void {
      if (record.method !== method || record.route !== url || record.status === undefined) return;
      const hour = Math.floor(clock.now() / hourMs);
      if (!byHour.has(hour)) forgetOld();
      const counted = byHour.get(hour) ?? { own: createTimes(), provider: createTimes() };
      byHour.set(hour, counted);
      counted.own.add(record.durationMs - record.providerMs);
      if (record.providerMs > 0) counted.provider.add(record.providerMs);
    },
    /** Hours in which creations were answered, oldest first. */
    hours(): CreationHour[] {
      forgetOld();
      return [...byHour]
        .toSorted(([one], [other]) => one - other)
        .map(([hour, { own, provider }]) => {
          const providerMs = provider.spread();
          const shown = { hour: hour * hourMs, ownMs: own.spread() ?? { p50: 0, p99: 0 } };
          return providerMs === undefined ? shown : { ...shown, providerMs };
        });
    },
  };
}

/** Counted in steps of a tenth: an hour costs the same however much happens in it. */
const step = 1.1;
const firstMs = 0.1;

type Times = ReturnType<typeof createTimes>;

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
