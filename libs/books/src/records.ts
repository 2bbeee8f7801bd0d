/** Disputes, transfers and unmatched operations with the metadata of their streams. Views store them. */
import {
  type Aggregate,
  type Happened,
  type Reviewed,
  envelopeAfter,
  reviewsSinceAfter,
} from '@tollgate/core';
import { type Dispute, type DisputeEvent, evolveDispute } from './dispute.ts';
import { type Transfer, type TransferEvent, evolveTransfer } from './transfer.ts';
import { type Unmatched, type UnmatchedEvent, evolveUnmatched } from './unmatched.ts';

export interface DisputeAggregate<Position extends string = string> extends Aggregate<Position> {
  dispute: Dispute;
}
export interface TransferAggregate<Position extends string = string> extends Aggregate<Position> {
  transfer: Transfer;
}
export interface UnmatchedAggregate<Position extends string = string> extends Aggregate<Position>, Reviewed {
  unmatched: Unmatched;
}

/** @throws InvariantViolation if events are missing before this one, or the dispute rules it out */
export const evolveDisputeAggregate = <Position extends string>(
  before: DisputeAggregate<Position> | undefined,
  happened: Happened<DisputeEvent, Position>,
): DisputeAggregate<Position> => ({
  ...envelopeAfter(before, happened),
  dispute: evolveDispute(before?.dispute, happened.event),
});

/** As {@link evolveDisputeAggregate}, for a transfer. */
export const evolveTransferAggregate = <Position extends string>(
  before: TransferAggregate<Position> | undefined,
  happened: Happened<TransferEvent, Position>,
): TransferAggregate<Position> => ({
  ...envelopeAfter(before, happened),
  transfer: evolveTransfer(before?.transfer, happened.event),
});

/** As {@link evolveDisputeAggregate}, for an operation that only the provider has. */
export function evolveUnmatchedAggregate<Position extends string>(
  before: UnmatchedAggregate<Position> | undefined,
  happened: Happened<UnmatchedEvent, Position>,
): UnmatchedAggregate<Position> {
  const unmatched = evolveUnmatched(before?.unmatched, happened.event);
  const reviewsSince = reviewsSinceAfter(before, before?.unmatched, unmatched, happened);
  return { ...envelopeAfter(before, happened), unmatched, reviewsSince };
}
