/**
 * Where documents lie in the store. All documents that belong together are a generation: a rebuild writes the next one
 * beside the one that is read, and one append makes it the live one.
 */
import type { EventStore, RecordedEvent, Revision } from '@tollgate/event-store';
import { z } from 'zod';

/** The number of a generation, from 1. */
export type ViewVersion = number;
export const firstViewVersion: ViewVersion = 1;

const viewPrefixOf = (viewVersion: ViewVersion): string =>
  viewVersion === firstViewVersion ? 'view_' : `view${viewVersion}_`;

/** The stream of the document that is folded from `stream`; its last event is kept. */
export const viewStreamOf = (stream: string, viewVersion: ViewVersion = firstViewVersion): string =>
  `${viewPrefixOf(viewVersion)}${stream}`;

/** Tells which generation is read, and which one is being built beside it; the last event is kept. */
export const viewVersionStream = 'view-version';
export const viewVersionEventType = 'ViewVersionChanged';

export const viewVersionRecordSchema = z.object({
  schemaVersion: z.literal(1),
  live: z.int().min(1),
  /** Absent where no rebuild is under way. Whoever reads the documents may read these along, to be ready for the switch. */
  building: z.int().min(1).exactOptional(),
  /** One that was begun and will never be live; its number is not used again, because its streams are there. */
  abandoned: z.int().min(1).exactOptional(),
});
export type ViewVersionRecord = z.infer<typeof viewVersionRecordSchema>;

export const firstViewVersionRecord: ViewVersionRecord = { schemaVersion: 1, live: firstViewVersion };

export interface StoredViewVersion {
  record: ViewVersionRecord;
  /** Of the stream that the record is in. */
  revision: Revision | 'no-stream';
}

/**
 * The record as it is now; that of the first generation where none was ever written.
 *
 * @throws StoreUnavailable; z.ZodError for a record that no version of ours has written
 */
export async function readViewVersion(store: EventStore): Promise<StoredViewVersion> {
  const lastOne = { direction: 'backwards', limit: 1 } as const;
  for await (const event of store.read(viewVersionStream, lastOne))
    return { record: toViewVersionRecord(event), revision: event.revision };
  return { record: firstViewVersionRecord, revision: 'no-stream' };
}

/** @throws z.ZodError for a record that no version of ours has written */
export const toViewVersionRecord = ({ data }: Pick<RecordedEvent, 'data'>): ViewVersionRecord =>
  viewVersionRecordSchema.parse(data);
