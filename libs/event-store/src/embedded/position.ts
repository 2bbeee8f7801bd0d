import { InvalidArgument } from '../errors.ts';
import { beginning, type Position } from '../event-store.ts';

// 16 digits hold every safe integer, so positions sort as text.
const positionDigits = 16;
const positionPattern = /^\d{16}$/;

/** Writes the number of a row, from 1, as a position. */
export function toPosition(rowNumber: number): Position {
  return rowNumber === 0 ? beginning : (rowNumber.toString().padStart(positionDigits, '0') as Position);
}

/**
 * Reads the number of a row out of a position; 0 is the beginning.
 *
 * @throws InvalidArgument where another kind of store wrote the position.
 */
export function fromPosition(position: Position): number {
  if (position === beginning) return 0;
  if (!positionPattern.test(position)) {
    throw new InvalidArgument('position_invalid', 'The position was not written by an embedded event store.');
  }
  return Number(position);
}
