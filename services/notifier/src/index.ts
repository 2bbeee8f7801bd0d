export { isNetwork } from './address-guard.ts';
export { createWebhookJournal, type WebhookJournal } from './webhook-journal.ts';
export { failureReasons, webhookBodySchema } from './webhook-events.ts';
export { replaysMax, type Webhook, type ReplayRefusal } from './webhook-state.ts';
export { runNotifier, type NotifierDependencies } from './notifier.ts';
export { registerWebhookRoutes, replaySchema, toPublicWebhook } from './routes.ts';
