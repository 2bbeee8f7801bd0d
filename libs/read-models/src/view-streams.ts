/**
 * Where documents lie in the store. All documents that belong together are a generation: a rebuild writes the next one
 * beside the one that is read, and one append makes it the live one.
 */
import type { EventStore, RecordedEvent, Revision } from '@tollgate/event-store';
import { z } from 'zod';

/** The number of a generation, from 1. */
export type Generation = number;
export const firstGeneration: Generation = 1;

const viewPrefixOf = (generation: Generation): string =>
  generation === firstGeneration ? 'view_' : `view${generation}_`;

/** The stream of the document that is folded from `stream`; its last event is kept. */
export const viewStreamOf = (stream: string, generation: Generation = firstGeneration): string =>
  `${viewPrefixOf(generation)}${stream}`;

/** Tells which generation is read, and which one is being built beside it; the last event is kept. */
export const generationStream = 'view-generation';
export const generationEventType = 'DocumentGenerationChanged';

export const generationRecordSchema = z.object({
  schemaVersion: z.literal(1),
  live: z.int().min(1),
  /** Absent where no rebuild is under way. Whoever reads the documents may read these along, to be ready for the switch. */
  building: z.int().min(1).exactOptional(),
  /** One that was begun and will never be live; its number is not used again, because its streams are there. */
  abandoned: z.int().min(1).exactOptional(),
});
export type GenerationRecord = z.infer<typeof generationRecordSchema>;

export const firstGenerationRecord: GenerationRecord = { schemaVersion: 1, live: firstGeneration };

export interface StoredGeneration {
  record: GenerationRecord;
  /** Of the stream that the record is in. */
  revision: Revision | 'no-stream';
}

/**
 * The record as it is now; that of the first generation where none was ever written.
 *
 * @throws StoreUnavailable; z.ZodError for a record that no version of ours has written
 */
export async function readGeneration(store: EventStore): Promise<StoredGeneration> {
  const lastOne = { direction: 'backwards', limit: 1 } as const;
  for await (const event of store.read(generationStream, lastOne))
    return { record: toGenerationRecord(event), revision: event.revision };
  return { record: firstGenerationRecord, revision: 'no-stream' };
}

/** @throws z.ZodError for a record that no version of ours has written */
export const toGenerationRecord = ({ data }: Pick<RecordedEvent, 'data'>): GenerationRecord =>
  generationRecordSchema.parse(data);
