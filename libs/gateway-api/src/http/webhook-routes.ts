/** Webhooks of one payment or payout, and the standing endpoints of a team. */
import { webhookDeliveryListSchema } from './queries.ts';
import { done, get, ofCommands, post } from './route-parts.ts';
import type { Route } from './routes.ts';

const listWebhooks = (kind: 'payment' | 'payout') =>
  ({
    ...get('notifier', 'Webhooks', `/api/v1/${kind}s/:token/webhooks`),
    summary: `Lists the webhooks of a ${kind} with every delivery attempt`,
    scopes: ['read', `${kind}s`],
    answers: done('The webhooks, oldest first.', 'WebhookList'),
    errors: [`${kind}_not_found`, ...ofCommands],
  }) satisfies Route;

const replayWebhooks = (kind: 'payment' | 'payout') =>
  ({
    ...post('notifier', 'Webhooks', `/api/v1/${kind}s/:token/webhooks/replay`),
    summary: 'Replays webhooks',
    description:
      'Sends the webhook with this `id` again, or without one all of them. What is for an endpoint that is disabled is passed over.',
    scopes: [`${kind}s`],
    body: { schema: 'Replay', example: {}, isOptional: true },
    answers: { 202: { meaning: 'The webhooks are sent immediately.', schema: 'ReplayedWebhooks' } },
    errors: [
      ...([`${kind}_not_found`, 'webhook_not_found', 'webhook_endpoint_disabled'] as const),
      ...(['too_many_replays', ...ofCommands] as const),
    ],
  }) satisfies Route;

const endpoints = '/api/v1/webhook-endpoints';
const atEndpoints = { service: 'notifier', tag: 'Webhooks' } as const;
const reading = ['read', 'admin'] as const;
const changing = ['admin', 'operators:teams'] as const;
const ofOne = ['webhook_endpoint_not_found', ...ofCommands] as const;
const ofChanges = ['webhook_endpoint_exists', 'too_many_endpoint_changes', 'origin_not_allowed'] as const;

const endpointRoutes = {
  listWebhookEndpoints: {
    ...atEndpoints,
    ...{ method: 'GET', url: endpoints },
    summary: 'Lists the standing webhook endpoints of your team',
    scopes: reading,
    answers: done('The endpoints, oldest first.', 'WebhookEndpointList'),
    errors: [...ofCommands],
  },
  createWebhookEndpoint: {
    ...atEndpoints,
    ...{ method: 'POST', url: endpoints },
    summary: 'Adds a standing webhook endpoint',
    description:
      'It is sent what happens from now on, beside the `callbackUrl` of a payment. Its origin must be on the list of allowed origins of your team. At most 20 in each environment, and one for a URL: a repeat is refused, and creates no second one.',
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
    errors: [...ofChanges, 'too_many_webhook_endpoints', ...ofCommands],
  },
  retrieveWebhookEndpoint: {
    ...atEndpoints,
    ...{ method: 'GET', url: `${endpoints}/:id` },
    summary: 'Shows a standing webhook endpoint',
    scopes: reading,
    answers: done('The endpoint.', 'WebhookEndpointAnswer'),
    errors: ofOne,
  },
  changeWebhookEndpoint: {
    ...atEndpoints,
    ...{ method: 'PATCH', url: `${endpoints}/:id` },
    summary: 'Changes, disables or enables a standing webhook endpoint',
    description:
      'What is left out stays. What was not delivered goes to the new URL, from the next attempt on. While it is disabled, webhooks to it are given up without an attempt: replay them once it is enabled.',
    scopes: changing,
    body: { schema: 'WebhookEndpointChange', example: { status: 'enabled' } },
    answers: done('Changed.', 'WebhookEndpointAnswer'),
    errors: [...ofChanges, ...ofOne],
  },
  removeWebhookEndpoint: {
    ...atEndpoints,
    ...{ method: 'DELETE', url: `${endpoints}/:id` },
    summary: 'Removes a standing webhook endpoint',
    description: 'Nothing is sent to it any more. A repeat is answered 404.',
    scopes: changing,
    answers: done('Removed, as it was.', 'WebhookEndpointAnswer'),
    errors: ofOne,
  },
  rotateWebhookEndpointSecret: {
    ...atEndpoints,
    ...{ method: 'POST', url: `${endpoints}/:id/rotate-secret` },
    summary: 'Gives a standing webhook endpoint a new secret',
    description:
      'For `overlapHours` (24 unless given) webhooks carry the signatures of both. Send 0 where the former secret is known to others. A repeat rotates again.',
    scopes: changing,
    body: { schema: 'SecretRotation', example: { overlapHours: 24 }, isOptional: true },
    answers: done('Rotated. Keep `secret`: it is not shown again.', 'CreatedWebhookEndpoint'),
    errors: ['too_many_endpoint_changes', ...ofOne],
  },
  testWebhookEndpoint: {
    ...atEndpoints,
    ...{ method: 'POST', url: `${endpoints}/:id/test` },
    summary: 'Sends a test event to a standing webhook endpoint, once',
    description: 'Its body has the `type` `test`. It is listed among the deliveries with its outcome.',
    scopes: changing,
    answers: { 202: { meaning: 'It is sent immediately.', schema: 'ReplayedWebhooks' } },
    errors: ['webhook_endpoint_disabled', ...ofOne],
  },
  listWebhookDeliveries: {
    ...atEndpoints,
    ...{ method: 'GET', url: `${endpoints}/:id/deliveries` },
    summary:
      'Lists the webhooks to a standing endpoint with every attempt: failed ones first, then latest first',
    description:
      'The last 10,000 that were delivered, and all others, until they are let go of (30 days after their last attempt unless configured).',
    ...{ scopes: reading, query: webhookDeliveryListSchema },
    answers: done('One page.', 'WebhookDeliveryList'),
    errors: ['invalid_param', 'read_model_behind', ...ofOne],
  },
  replayWebhookDelivery: {
    ...atEndpoints,
    ...{ method: 'POST', url: `${endpoints}/:id/deliveries/:webhook/replay` },
    summary: 'Replays one webhook to a standing endpoint',
    scopes: changing,
    answers: { 202: { meaning: 'It is sent immediately.', schema: 'ReplayedWebhooks' } },
    errors: [
      ...(['webhook_endpoint_disabled', 'webhook_not_found', 'too_many_replays'] as const),
      ...(['read_model_behind', ...ofOne] as const),
    ],
  },
  replayWebhookDeliveries: {
    ...atEndpoints,
    ...{ method: 'POST', url: `${endpoints}/:id/replay` },
    summary: 'Replays the webhooks to a standing endpoint that failed, or that were delivered, by their time',
    description:
      'At most 500 at a time, oldest first: while the answer has `nextCursor`, send the same body with it as `cursor`. One that was replayed 200 times is passed over.',
    scopes: changing,
    body: {
      schema: 'BulkReplay',
      example: { status: 'failed', createdFrom: '2030-01-01T00:00:00Z' },
      isOptional: true,
    },
    answers: {
      202: { meaning: 'They are sent, each as soon as it is its turn.', schema: 'ReplayedDeliveries' },
    },
    errors: ['webhook_endpoint_disabled', 'read_model_behind', ...ofOne],
  },
} satisfies Record<string, Route>;

export const webhookRoutes = {
  listPaymentWebhooks: listWebhooks('payment'),
  replayPaymentWebhooks: replayWebhooks('payment'),
  listPayoutWebhooks: listWebhooks('payout'),
  replayPayoutWebhooks: replayWebhooks('payout'),
  ...endpointRoutes,
};
