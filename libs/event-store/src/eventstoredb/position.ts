import type { Position as LogPosition } from '@eventstore/db-client';
import { InvalidArgument, StoreUnavailable } from '../errors.ts';
import { beginning, type Position } from '../event-store.ts';

// 20 digits hold every unsigned number of 64 bits, so positions sort as text.
const digits = 20;
const positionPattern = /^(\d{20})-(\d{20})$/;

/** On the wire, -1 as an unsigned number of 64 bits: the server does not know the position. */
const logPositionMax = 2n ** 63n - 1n;

const padded = (value: bigint) => value.toString().padStart(digits, '0');

/**
 * Converts a place in the server's log to a position.
 *
 * @throws StoreUnavailable (not retryable) if the server returned none, as servers before 22.6 do
 */
export function toPosition(place: LogPosition | undefined): Position {
  if (!isKnown(place)) {
    throw new StoreUnavailable(
      'store_version_unsupported',
      'The event store does not return the positions of its events: use EventStoreDB 22.10 or later, or KurrentDB.',
      { retryable: false },
    );
  }
  return `${padded(place.commit)}-${padded(place.prepare)}` as Position;
}

/** False if the server returned none, as for a repeated append whose events were trimmed. */
export function isKnown(place: LogPosition | undefined): place is LogPosition {
  return place !== undefined && place.commit <= logPositionMax && place.prepare <= logPositionMax;
}

/** @throws InvalidArgument if another kind of store wrote the position */
export function fromPosition(position: Position): LogPosition | 'start' {
  if (position === beginning) return 'start';
  const [, commit, prepare] = positionPattern.exec(position) ?? [];
  if (commit === undefined || prepare === undefined) {
    throw new InvalidArgument('position_invalid', 'The position was not written by an EventStoreDB.');
  }
  return { commit: BigInt(commit), prepare: BigInt(prepare) };
}
