/** A request of the API as its team sees it afterwards. */
import { z } from 'zod';
import { environment, instant } from './values.ts';

const milliseconds = z.number().min(0).describe('Milliseconds.');

export const requestSchema = z.object({
  id: z.string().describe('The `Request-Id` of its answer.'),
  at: instant.describe('When it came. ISO 8601 in UTC.'),
  method: z.string(),
  route: z.string().exactOptional().describe('As the route is written; absent where there is none.'),
  status: z.int().exactOptional().describe('Absent where the client had gone before it was answered.'),
  errorCode: z.string().exactOptional(),
  durationMs: milliseconds.describe('From its first line to the end of its answer, in milliseconds.'),
  ownMs: milliseconds.describe('Of that, what the gateway took.'),
  providerMs: milliseconds.describe('Of that, what calls of the Payment Service took.'),
  environment,
  keyId: z.string().describe('Id of the API key that came with it.'),
  token: z
    .string()
    .exactOptional()
    .describe('Of the payment that it was about, or else of the payout or refund.'),
  clientRequestId: z
    .string()
    .exactOptional()
    .describe('The `X-Request-Id` that came with it, where that was 1 to 128 printable ASCII characters.'),
});
export type PublicRequest = z.infer<typeof requestSchema>;
