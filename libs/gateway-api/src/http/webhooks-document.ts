/** Webhooks to teams, for the `webhooks` of the OpenAPI document (3.1). */
import { webhookEventNames } from '../webhook-endpoint.ts';

const header = (name: string, required: boolean, description: string, example: string) => ({
  name,
  in: 'header',
  required,
  description,
  schema: { type: 'string' },
  example,
});

const headers = [
  header(
    'webhook-id',
    true,
    'The same on every attempt. If you have already processed this id, return 204 and stop.',
    'whk_3f0e9d5c7a2b4c1d8e6f0a1b2c3d4e5f',
  ),
  header(
    'webhook-timestamp',
    true,
    'Time of this attempt, in seconds since 1970. Reject it if it is older than five minutes.',
    '1893456000',
  ),
  header(
    'webhook-signature',
    true,
    'One signature, or several separated by spaces while a secret changes. One of them must match.',
    'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
  ),
  header('Tollgate-Sequence', false, '`sequence` of the body; absent from test events.', '3'),
  header('Tollgate-Event-Time', false, '`occurredAt` of the body.', '2030-01-01T12:00:00.000Z'),
  header(
    'Tollgate-Correlation-Id',
    false,
    'The `Request-Id` of the request that caused it, if any.',
    'req_0me0pq5dc3b1f0e7a9c2d4e6f8a0b',
  ),
];

const description = `Verify before you parse: \`webhook-signature\` is \`v1,\` and the base64 of an HMAC-SHA256 over \`<webhook-id>.<webhook-timestamp>.<body>\`, computed on the exact bytes received, with the key that follows \`whsec_\` in base64 ([Standard Webhooks](https://www.standardwebhooks.com)). Use the secret of the endpoint, or your team's secret for a \`callbackUrl\`.

Delivery is at least once. Webhooks of one payment or payout are sent in order: each one after the previous one was delivered or has failed permanently. The one with the greater \`sequence\` is the later.`;

const meanings = {
  payment: 'The status of a payment has changed',
  refund: 'A refund was approved or declined',
  payout: 'The status of a payout has changed',
  dispute: "A customer's bank opened a dispute, changed its amount, or decided it",
  test: 'A test event requested by your team',
} as const;

/** @param refTo names a schema of the document */
export const webhooksDocument = (refTo: (schema: 'WebhookBody') => object) =>
  Object.fromEntries(
    Object.entries(meanings).map(([type, meaning]) => [
      type,
      { post: operationOf(type as keyof typeof meanings, meaning, refTo('WebhookBody')) },
    ]),
  );

function operationOf(type: keyof typeof meanings, summary: string, schema: object) {
  const names = webhookEventNames.filter((name) => name.startsWith(`${type}.`));
  const events = type === 'test' ? '' : `\n\nEvents: ${names.map((name) => `\`${name}\``).join(', ')}.`;
  const name = `${type.charAt(0).toUpperCase()}${type.slice(1)}`;
  return {
    operationId: `receive${name}Webhook`,
    tags: ['Receivers'],
    summary,
    description: `${description}${events}`,
    security: [],
    parameters: headers,
    requestBody: { required: true, content: { 'application/json': { schema } } },
    responses: {
      '2XX': {
        description:
          'You have it. Any other answer, and none within ten seconds, is repeated over three days.',
      },
      '410': {
        description: 'The endpoint is gone: it is disabled. Of a `callbackUrl`: as any other failure.',
      },
    },
  };
}
