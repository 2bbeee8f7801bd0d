/**
 * How much the address of one payment may make us keep and inquire. In the memory of this process: each instance allows as
 * much, and a restart forgets it.
 */
import { createRecentlyUsed } from '@tollgate/event-store';
import type { Clock } from '@tollgate/service-kit';

/** Of a payment at once, in units of one KiB begun; a payment's own callbacks have a few hundred bytes. */
const unitsMax = 30;
const unitBytes = 1_024;
/** Interval after which one more is allowed. @unit milliseconds */
export const unitEveryMs = 20_000;
const paymentsMax = 20_000;

interface Allowance {
  units: number;
  at: number;
}

export function createPaymentLimits({ clock }: { clock: Pick<Clock, 'monotonic'> }) {
  const allowances = createRecentlyUsed<Allowance>(paymentsMax);

  function allowanceOf(payment: string): Allowance {
    const now = clock.monotonic();
    const known = allowances.get(payment) ?? { units: unitsMax, at: now };
    const units = Math.min(unitsMax, known.units + (now - known.at) / unitEveryMs);
    const current = Object.assign(known, { units, at: now });
    allowances.set(payment, current);
    return current;
  }

  return {
    /**
     * Stores a callback unless its payment has had too many. Equal callbacks are not repeats: two refunds of one amount are
     * reported by the same bytes. Never rejects.
     *
     * @param store resolves with true if it was stored
     */
    admit: async (
      payment: string,
      bytes: number,
      store: () => Promise<boolean>,
    ): Promise<'stored' | 'not_stored' | 'limited'> => {
      const allowance = allowanceOf(payment);
      const units = Math.max(1, Math.ceil(bytes / unitBytes));
      if (allowance.units < units) return 'limited';
      allowance.units -= units;
      if (await store()) return 'stored';
      // The next try costs nothing: the fault was ours.
      allowance.units += units;
      return 'not_stored';
    },
  };
}
