export { openDeliveries } from './deliveries.ts';
export type { EndpointCount } from './endpoints/endpoint-directory.ts';
export { decodeEndpointEvent, endpointStreamPrefix } from './endpoints/endpoint.ts';
export type { WebhookClient } from './http-client.ts';
export { registerNotifierRoutes, runNotifier } from './notifier.ts';
export { decodeWebhookEvent, webhookStreamPrefix } from './webhook-events.ts';
export { createWebhookJournal } from './webhook-journal.ts';
export { retainWebhooks } from './webhook-retention.ts';
