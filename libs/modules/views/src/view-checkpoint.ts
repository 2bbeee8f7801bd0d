/** The projector's checkpoint. */
import { countedSchema, failedStreamSchema } from '@tollgate/event-store';
import { z } from 'zod';
import { viewStreamOf } from './view-kind.ts';

/** Only its last event is kept. */
export const checkpointStream = viewStreamOf('checkpoint-views');

/**
 * Written after the views: every event at or before `position` is in its view, except those of the failed streams.
 * Followers of the same streams compare their counts with the projector's.
 */
export const viewCheckpointSchema = countedSchema.extend({ failedStreams: z.array(failedStreamSchema) });
export type ViewCheckpoint = z.infer<typeof viewCheckpointSchema>;
