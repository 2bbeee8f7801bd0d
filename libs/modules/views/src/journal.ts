/** The journal entries of one event, for the index and the topic. */
import { ownWalletTeam } from '@tollgate/core';
import type { Position, RecordedEvent } from '@tollgate/event-store';
import { omitUndefined } from '@tollgate/service-kit';
import { entriesOf, entryKindOf, type KeptEntry } from '@tollgate/books';
import type { ViewEnvelope, ViewKind } from './view-kind.ts';

export interface JournalRow extends KeptEntry {
  position: Position;
}

/** @param after the view after the event; `before` is undefined for the first one */
export function journalOf(
  kind: ViewKind,
  { before, after }: { before: ViewEnvelope | undefined; after: ViewEnvelope },
  event: RecordedEvent,
): JournalRow[] {
  if (kind.standingsOf === undefined || before === after) return [];
  const entries = entriesOf((before && kind.standingsOf(before)) ?? [], kind.standingsOf(after));
  return entries.map(({ postings, ...owner }, number) => ({
    ...owner,
    ...omitUndefined({ team: kind.ownerOf(after).team ?? ownWalletTeam(owner.wallet), part: partOf(event) }),
    kind: entryKindOf(kind.name as 'payment' | 'payout' | 'transfer', event.type),
    eventId: event.id,
    eventType: event.type,
    number,
    subject: after.token,
    at: after.updatedAt,
    position: event.position,
    postings: postings.map(({ ledgerAccount, amount }) => [ledgerAccount, amount]),
  }));
}

function partOf({ data }: RecordedEvent): string | undefined {
  const { refundToken, disputeToken } = data as { refundToken?: unknown; disputeToken?: unknown };
  return [refundToken, disputeToken].find((token) => typeof token === 'string');
}
