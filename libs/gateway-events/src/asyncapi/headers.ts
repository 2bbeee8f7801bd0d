import { z } from 'zod';
import { positionHeader, sequenceHeader } from '../record-format.ts';

/** The headers of every record: CloudEvents 1.0 in binary mode, with the extensions for sequence and tracing. */
export const headersSchema = z.object({
  'content-type': z.literal('application/json'),
  ce_specversion: z.literal('1.0'),
  ce_id: z.string().describe('Of the event; the same wherever it is seen.'),
  ce_type: z
    .string()
    .regex(/^tollgate\.[a-z]+\.[a-z-]+\.v\d+$/)
    .describe('What has happened, and in which version of its data.'),
  ce_source: z.string().describe('What kind of thing it has happened to.'),
  ce_subject: z.string().describe('The token of what it has happened to; the key of the record, too.'),
  ce_time: z.iso.datetime().describe('When it was recorded. ISO 8601 in UTC.'),
  [sequenceHeader]: z
    .string()
    .regex(/^\d+$/)
    .describe(
      'Number of the event among those of its subject, from 0 and without a gap. With the key it tells repeats.',
    ),
  [positionHeader]: z
    .string()
    .describe("The gateway's own, opaque: where its publisher goes on after a stop."),
  traceparent: z.string().optional().describe('W3C Trace Context of what has caused it.'),
});
