/** What the schedule has found due, and the inquiries that are under way. */
import type { Log } from '@tollgate/service-kit';
import type { OpenItem } from './inquiry-schedule.ts';

/** Inquiries of one schedule at once. More than the places of an account: one that hangs does not hold all of them. */
const inquiriesAtOnceMax = 64;
/** Items that wait; what does not fit is still due at the next pass. */
const waitingMax = 1_000;

export interface InquiryQueue {
  /** Takes what is due. What waits or is under way already is not taken a second time. */
  offer(items: readonly OpenItem[]): void;
  /** Begins no more inquiries; resolves when those under way have ended. */
  close(): Promise<void>;
}

export interface InquiryQueueDependencies {
  inquire: (token: string) => Promise<unknown>;
  /** Called when the inquiry about an item begins. */
  onBegin: (item: OpenItem) => void;
  log: Log;
}

export function createInquiryQueue({ inquire, onBegin, log }: InquiryQueueDependencies): InquiryQueue {
  /** In the order in which they are inquired. */
  let waiting = new Map<string, OpenItem>();
  const underWay = new Map<string, Promise<void>>();
  let isClosed = false;

  async function inquireAbout(token: string): Promise<void> {
    try {
      await inquire(token);
    } catch (error) {
      log.error(
        { error, token, operation: 'inquiry-schedule' },
        'an inquiry failed; the schedule repeats it',
      );
    }
  }

  function begin(): void {
    for (const [token, item] of waiting) {
      if (isClosed || underWay.size >= inquiriesAtOnceMax) return;
      waiting.delete(token);
      onBegin(item);
      const ending = inquireAbout(token).then(() => {
        underWay.delete(token);
        begin();
      });
      underWay.set(token, ending);
    }
  }

  return {
    offer(items) {
      for (const item of items) if (!underWay.has(item.token)) waiting.set(item.token, item);
      const inOrder = [...waiting].sort(([, a], [, b]) => byUrgency(a, b)).slice(0, waitingMax);
      waiting = new Map(inOrder);
      begin();
    },
    async close() {
      isClosed = true;
      await Promise.all(underWay.values());
    },
  };
}

/**
 * First unknown outcomes, and of those the latest change: a caller may wait for it, and it must not queue behind all that
 * an account has left open which has been hanging for hours.
 */
const byUrgency = (a: OpenItem, b: OpenItem): number =>
  Number(b.inquiryNeed === 'unresolved') - Number(a.inquiryNeed === 'unresolved') ||
  b.updatedAt - a.updatedAt;
