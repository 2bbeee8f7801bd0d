/** The stored record of an API request, without its body. */
import { isRequestId } from '@tollgate/service-kit';
import { z } from 'zod';

const milliseconds = z.number().min(0);

/** As a front door tells it to the query service. */
const requestRecordSchema = z.object({
  id: z.string().refine(isRequestId),
  method: z.string(),
  /** As the route was written; absent if there is none. */
  route: z.string().exactOptional(),
  /** Absent if the client disconnected before the answer. */
  status: z.int().exactOptional(),
  errorCode: z.string().exactOptional(),
  durationMs: milliseconds,
  /** Of it, what calls of the Payment Service took. */
  providerMs: milliseconds,
  /** Whose key came with it; absent where no active one did. */
  caller: z.object({ environment: z.string(), team: z.string(), keyId: z.string() }).exactOptional(),
  /** Of the payment, or else of the payout. */
  token: z.string().exactOptional(),
  /** What the client calls it. */
  clientRequestId: z.string().exactOptional(),
});
export type RequestRecord = z.infer<typeof requestRecordSchema>;

/** In one message at most. */
export const recordsPerMessageMax = 500;
export const requestRecordsSchema = z.array(requestRecordSchema).max(recordsPerMessageMax);
