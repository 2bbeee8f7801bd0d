/** The standing endpoints of a team, and the webhooks sent to them and to each `callbackUrl`. */
import { webhookListSchema } from './queries.ts';
import { done, get, patch, post, remove } from './route-parts.ts';
import type { Route } from './routes.ts';

const endpoints = '/api/v1/webhook-endpoints';
const reading = ['read', 'admin'] as const;
const changing = ['admin', 'operators:teams'] as const;
const ofOne = ['webhook_endpoint_not_found'] as const;
const ofChanges = ['webhook_endpoint_exists', 'too_many_endpoint_changes', 'origin_not_allowed'] as const;

export const replayed = { 202: { meaning: 'They are sent in turn.', schema: 'ReplayedWebhooks' } } as const;
export const ofReplays = [
  'webhook_not_found',
  'webhook_endpoint_disabled',
  'too_many_replays',
  'invalid_param',
  'read_model_behind',
] as const;

export const webhookRoutes = {
  listWebhookEndpoints: {
    ...get('notifier', 'Webhooks', endpoints),
    summary: 'Lists the standing webhook endpoints of your team',
    scopes: reading,
    answers: done('The endpoints, oldest first.', 'WebhookEndpointList'),
  },
  createWebhookEndpoint: {
    ...post('notifier', 'Webhooks', endpoints),
    summary: 'Adds a standing webhook endpoint',
    description:
      'The endpoint receives all events from now on, in addition to the `callbackUrl` of a payment. Its origin must be on the list of allowed origins of your team. At most 20 endpoints per environment, and one per URL: a repeat is refused.',
    scopes: changing,
    body: {
      schema: 'WebhookEndpointRequest',
      example: { url: 'https://shop.example/webhooks', events: ['payment.approved', 'refund.approved'] },
    },
    answers: {
      201: {
        meaning: 'Added. Keep `secret`: it is not shown again, and verifies what this endpoint receives.',
        schema: 'CreatedWebhookEndpoint',
      },
    },
    errors: [...ofChanges, 'too_many_webhook_endpoints'],
  },
  retrieveWebhookEndpoint: {
    ...get('notifier', 'Webhooks', `${endpoints}/:id`),
    summary: 'Shows a standing webhook endpoint',
    scopes: reading,
    answers: done('The endpoint.', 'WebhookEndpointAnswer'),
    errors: ofOne,
  },
  changeWebhookEndpoint: {
    ...patch('notifier', 'Webhooks', `${endpoints}/:id`),
    summary: 'Changes, disables or enables a standing webhook endpoint',
    description:
      'Omitted fields are unchanged. Undelivered webhooks go to the new URL from the next attempt on. Webhooks for a disabled endpoint fail without an attempt. Replay them after you have enabled it.',
    scopes: changing,
    body: { schema: 'WebhookEndpointChange', example: { status: 'enabled' } },
    answers: done('Changed.', 'WebhookEndpointAnswer'),
    errors: [...ofChanges, ...ofOne],
  },
  removeWebhookEndpoint: {
    ...remove('notifier', 'Webhooks', `${endpoints}/:id`),
    summary: 'Removes a standing webhook endpoint',
    description: 'Nothing is sent to it any longer. A repeat returns 404.',
    scopes: changing,
    answers: done('The removed endpoint.', 'WebhookEndpointAnswer'),
    errors: ofOne,
  },
  rotateWebhookEndpointSecret: {
    ...post('notifier', 'Webhooks', `${endpoints}/:id/rotate-secret`),
    summary: 'Gives a standing webhook endpoint a new secret',
    description:
      'For `overlapHours` (24 unless given) webhooks carry the signatures of both. Send 0 if the old secret has leaked. A repeat rotates again.',
    scopes: changing,
    body: { schema: 'SecretRotation', example: { overlapHours: 24 }, isOptional: true },
    answers: done('Rotated. Keep `secret`: it is not shown again.', 'CreatedWebhookEndpoint'),
    errors: ['too_many_endpoint_changes', ...ofOne],
  },
  testWebhookEndpoint: {
    ...post('notifier', 'Webhooks', `${endpoints}/:id/test`),
    summary: 'Sends a test event to a standing webhook endpoint, once',
    description: 'Its body has the `type` `test`. It is listed among the deliveries with its outcome.',
    scopes: changing,
    answers: { 202: { meaning: 'It is sent immediately.', schema: 'SentTest' } },
    errors: ['webhook_endpoint_disabled', ...ofOne],
  },
  listWebhooks: {
    ...get('notifier', 'Webhooks', '/api/v1/webhooks'),
    summary: 'Lists webhooks with every delivery attempt: failed ones first, then latest first',
    description:
      'Webhooks to all endpoints and `callbackUrl`s; with `token`, those of one payment or payout. Without `token`, lists the last 10,000 delivered webhooks of the environment and all undelivered ones. They are deleted 30 days after their last attempt by default.',
    scopes: reading,
    query: webhookListSchema,
    answers: done('One page.', 'WebhookList'),
    errors: ['invalid_param', 'read_model_behind'],
  },
  replayWebhooks: {
    ...post('notifier', 'Webhooks', '/api/v1/webhooks/replay'),
    summary: 'Sends webhooks again',
    description:
      'Replays the webhook with this `id`, all webhooks of the payment or payout with this `token`, or all that failed (with `status`: were delivered), oldest first. At most 500 at a time: while the answer has `nextCursor`, send the same body with it as `cursor`. A webhook that was replayed 200 times, or whose endpoint is disabled, is skipped.',
    scopes: ['payments', 'payouts', 'admin', 'operators:teams'],
    body: {
      schema: 'WebhookReplay',
      example: { endpoint: 'we_4kq2v6t3b7yz', createdFrom: '2030-01-01T00:00:00Z' },
    },
    answers: replayed,
    errors: [...ofReplays],
  },
} satisfies Record<string, Route>;
