import { z } from 'zod';
import { correlationHeader, positionHeader, sequenceHeader, subjectHeader } from '../topics/record-format.ts';

/** The headers of every record: CloudEvents 1.0 in binary mode, with the extensions for sequence and tracing. */
export const headersSchema = z.object({
  'content-type': z.literal('application/json'),
  ce_specversion: z.literal('1.0'),
  ce_id: z.string().describe('Id of the event or of the journal entry, the same wherever it appears.'),
  ce_type: z
    .string()
    .regex(/^tollgate\.[a-z]+\.[a-z-]+\.v\d+$/)
    .describe('The type of the event, with the version of its data.'),
  ce_source: z.string().describe('The kind of subject.'),
  [subjectHeader]: z
    .string()
    .describe(
      'The token of the payment, payout, dispute or transfer; except in the journal, the key as well.',
    ),
  ce_time: z.iso.datetime().describe('When the event was recorded. ISO 8601 in UTC.'),
  [sequenceHeader]: z
    .string()
    .regex(/^\d+$/)
    .describe(
      'Number of the event in the history of its subject, from 0 and without gaps, with leading zeros, so that it sorts as a number and as text. With the key it identifies repeats, except in the journal.',
    ),
  [correlationHeader]: z
    .string()
    .optional()
    .describe(
      'The same for all events that one request or callback caused; the `Request-Id` if it was a request.',
    ),
  [positionHeader]: z.string().describe('Opaque and internal: where the publisher resumes.'),
  traceparent: z.string().optional().describe('W3C Trace Context of the cause.'),
});
