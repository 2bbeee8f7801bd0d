import { eventsPerAppendMax, type NewEvent } from '@tollgate/event-store';

const chunkBytesMax = 4 * 1_048_576;

/** A record on its way to its partition. */
export interface OutgoingRecord {
  event: NewEvent;
  /** Roughly. */
  bytes: number;
}

/** The first ones, as many as one append takes; one at least, where there is one. */
export function firstChunk(records: readonly OutgoingRecord[]): OutgoingRecord[] {
  let bytes = 0;
  const end = records.findIndex((record, index) => {
    bytes += record.bytes;
    return index === eventsPerAppendMax || (index > 0 && bytes > chunkBytesMax);
  });
  return records.slice(0, end === -1 ? undefined : end);
}
