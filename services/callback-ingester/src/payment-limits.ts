/**
 * How much the address of one payment may make us keep and inquire. In the memory of this process: each instance allows as
 * much, and a restart forgets it.
 */
import { createHash } from 'node:crypto';
import { createRecentlyUsed } from '@tollgate/event-store';
import type { Clock } from '@tollgate/service-kit';

/** Of a payment at once, in units of one KiB begun; a payment's own callbacks have a few hundred bytes. */
const unitsMax = 30;
const unitBytes = 1_024;
/** After this time one unit more may come, milliseconds. */
export const unitEveryMs = 20_000;
/** So long the last callback of a payment is known again, milliseconds. */
const repeatWithinMs = 10 * 60_000;
const paymentsMax = 20_000;

/** True where it was stored. */
type Storing = Promise<boolean>;

interface Known {
  units: number;
  at: number;
  last: { hash: string; storing: Storing; at: number } | undefined;
}

type Admission =
  | { kind: 'stored' }
  | { kind: 'not_stored' }
  /** The same bytes as the one before, which is stored: there is nothing new in it. */
  | { kind: 'repeated' }
  | { kind: 'limited' };

export interface PaymentLimits {
  /** Stores a callback, unless its payment has had too many, or just this one. Never rejects. */
  admit(payment: string, body: Uint8Array, store: () => Storing): Promise<Admission>;
}

export function createPaymentLimits({ clock }: { clock: Pick<Clock, 'monotonic'> }): PaymentLimits {
  const payments = createRecentlyUsed<Known>(paymentsMax);

  function knownOf(payment: string): Known {
    const now = clock.monotonic();
    const known = payments.get(payment) ?? { units: unitsMax, at: now, last: undefined };
    const units = Math.min(unitsMax, known.units + (now - known.at) / unitEveryMs);
    const current = Object.assign(known, { units, at: now });
    payments.set(payment, current);
    return current;
  }

  return {
    admit: async (payment, body, store) => {
      const known = knownOf(payment);
      const hash = createHash('sha256').update(body).digest('base64');
      const { last } = known;
      const isRepeat = last?.hash === hash && known.at - last.at < repeatWithinMs;
      // Not answered before the first one is durable.
      if (isRepeat) return (await last.storing) ? { kind: 'repeated' } : { kind: 'not_stored' };
      const units = Math.ceil(body.byteLength / unitBytes);
      if (known.units < units) return { kind: 'limited' };
      known.units -= units;
      const storing = store();
      const own = { hash, storing, at: known.at };
      known.last = own;
      if (await storing) return { kind: 'stored' };
      // The next try of it must be stored, and costs nothing: the fault was ours.
      if (known.last === own) known.last = undefined;
      known.units += units;
      return { kind: 'not_stored' };
    },
  };
}
