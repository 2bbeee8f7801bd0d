/** A request of the API as its team sees it afterwards. */
import { z } from 'zod';
import { environment, instant } from './values.ts';

const milliseconds = z.number().min(0).describe('Milliseconds.');

export const requestSchema = z.object({
  id: z.string().describe('The `Request-Id` of its answer.'),
  at: instant.describe('Time of arrival. ISO 8601 in UTC.'),
  method: z.string(),
  route: z.string().exactOptional().describe('Path of the matched route; absent if none matched.'),
  status: z.int().exactOptional().describe('Absent if the client disconnected before the answer.'),
  errorCode: z.string().exactOptional(),
  durationMs: milliseconds.describe('From its first line to the end of its answer, in milliseconds.'),
  ownMs: milliseconds.describe('Time of the gateway, in milliseconds.'),
  providerMs: milliseconds.describe('Time of calls to the Payment Service, in milliseconds.'),
  environment,
  keyId: z.string().describe('Id of the API key.'),
  token: z.string().exactOptional().describe('Token of its payment, payout or refund.'),
  clientRequestId: z
    .string()
    .exactOptional()
    .describe('The `X-Request-Id` of the client, if it has 1 to 128 printable ASCII characters.'),
});
export type PublicRequest = z.infer<typeof requestSchema>;
