/** The stored record of an API request, without its body. */
import { isRequestId } from '@tollgate/service-kit';
import { z } from 'zod';

const milliseconds = z.number().min(0);

/** As a front door reports it to the query service. */
const requestRecordSchema = z.object({
  id: z.string().refine(isRequestId),
  method: z.string(),
  /** The route's pattern; absent if none matched. */
  route: z.string().exactOptional(),
  /** Absent if the client disconnected before the answer. */
  status: z.int().exactOptional(),
  errorCode: z.string().exactOptional(),
  durationMs: milliseconds,
  /** The part spent on calls of the Payment Service. */
  providerMs: milliseconds,
  /** Owner of the key; absent without an active one. */
  caller: z.object({ environment: z.string(), team: z.string(), keyId: z.string() }).exactOptional(),
  /** Token of the payment, or of the payout. */
  token: z.string().exactOptional(),
  /** The client's own id. */
  clientRequestId: z.string().exactOptional(),
});
export type RequestRecord = z.infer<typeof requestRecordSchema>;

/** Maximum per message. */
export const recordsPerMessageMax = 500;
export const requestRecordsSchema = z.array(requestRecordSchema).max(recordsPerMessageMax);
