export { isNetwork } from './address-guard.ts';
export { decodeWebhookEvent, webhookStreamPrefix } from './webhook-events.ts';
export { createWebhookJournal } from './webhook-journal.ts';
export { replaysMax, type Webhook, type ReplayRefusal } from './webhook-state.ts';
export type { WebhookClient } from './http-client.ts';
export { runNotifier } from './notifier.ts';
export { retainWebhooks } from './webhook-retention.ts';
export { registerWebhookRoutes, toPublicWebhook } from './routes.ts';
