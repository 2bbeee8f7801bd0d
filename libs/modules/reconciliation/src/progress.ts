/** The progress of a reconciliation, from its stream. After a kill it continues there. */
import { createHash } from 'node:crypto';
import { type OperationKind } from '@tollgate/core';
import {
  type ReconciliationEvent,
  type ReconciliationReport,
  evolveReconciliationReport,
} from './reconciliation.ts';

/** Readings of a list at most: what grows while it is read is read again, and then left to the next run. */
const passesMax = 3;

interface ListProgress {
  /** Of the page to read next. */
  pass: number;
  page: number;
  /** Fingerprints of all rows that were shown. It grows in place: a copy for each page would cost its square. */
  seen: Set<string>;
  total: number | undefined;
  isRead: boolean;
  /** Ours were looked for among them. */
  areBooksCompared: boolean;
}

export interface RunProgress {
  /** How often the account gave no list that could be read, since anything was compared. */
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
/** Of a provider's token: 72 bits, so that a list of a million has no two alike. */
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

/** True where the provider counts more rows than it has shown. */
export const isListShort = ({ seen, total }: Pick<ListProgress, 'seen' | 'total'>): boolean =>
  total !== undefined && seen.size < total;
