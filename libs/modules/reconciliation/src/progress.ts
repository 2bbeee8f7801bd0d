/** The progress of a reconciliation, from its stream. After a kill it continues there. */
import { createHash } from 'node:crypto';
import {
  type ReconciliationEvent,
  type ReconciliationReport,
  evolveReconciliationReport,
} from './reconciliation.ts';
import type { OperationKind } from '@tollgate/books';

/** Maximum readings of a list: a list that grows during the read is read again, and then left to the next run. */
const passesMax = 3;

interface ListProgress {
  /** Number of the next page. */
  pass: number;
  page: number;
  /** Fingerprints of all shown rows. Grows in place: a copy for each page would be quadratic. */
  seen: Set<string>;
  total: number | undefined;
  isRead: boolean;
  /** True once our payments were searched among them. */
  areBooksCompared: boolean;
}

export interface RunProgress {
  /** Unreadable lists of the account since the last comparison. */
  interruptions: number;
  report: ReconciliationReport | undefined;
  lists: Readonly<Record<OperationKind, ListProgress>>;
}

const unread = (): ListProgress => ({
  pass: 1,
  page: 1,
  seen: new Set(),
  total: undefined,
  isRead: false,
  areBooksCompared: false,
});
export const noProgress = (): RunProgress => ({
  interruptions: 0,
  report: undefined,
  lists: { payment: unread(), payout: unread() },
});

const fingerprintLength = 12;
/** Of a provider's token: 72 bits, so that a list of a million has no collisions. */
export const fingerprintOf = (serviceToken: string): string =>
  createHash('sha256').update(serviceToken).digest('base64url').slice(0, fingerprintLength);

const readSeen = (text: string): string[] => text.match(new RegExp(`.{${fingerprintLength}}`, 'g')) ?? [];

export function evolveProgress(
  { interruptions, report, lists }: RunProgress,
  event: ReconciliationEvent,
): RunProgress {
  const isInterrupted = event.type === 'ReconciliationInterrupted';
  const next = {
    interruptions: isInterrupted ? interruptions + 1 : 0,
    report: evolveReconciliationReport(report, event),
    lists,
  };
  if (event.type !== 'PageCompared' && event.type !== 'BooksCompared') return next;
  const { operation } = event.data;
  const list =
    event.type === 'PageCompared'
      ? afterPage(lists[operation], event.data)
      : { ...lists[operation], areBooksCompared: true };
  return { ...next, lists: { ...lists, [operation]: list } };
}

function afterPage(
  list: ListProgress,
  { pass, page, isLast, total, seen }: Extract<ReconciliationEvent, { type: 'PageCompared' }>['data'],
): ListProgress {
  for (const fingerprint of readSeen(seen)) list.seen.add(fingerprint);
  const known = { ...list, total };
  if (!isLast) return { ...known, pass, page: page + 1 };
  const isShort = isListShort(known);
  return isShort && pass < passesMax
    ? { ...known, pass: pass + 1, page: 1 }
    : { ...known, pass, page, isRead: true };
}

/** True if the provider counts more rows than it has shown. */
export const isListShort = ({ seen, total }: Pick<ListProgress, 'seen' | 'total'>): boolean =>
  total !== undefined && seen.size < total;
