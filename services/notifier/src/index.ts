export { isNetwork } from './address-guard.ts';
export { createNotificationJournal, type NotificationJournal } from './notification-journal.ts';
export { failureReasons, notificationBodySchema } from './notification-events.ts';
export { replaysMax, type Notification, type ReplayRefusal } from './notification-state.ts';
export { runNotifier, type NotifierDependencies } from './notifier.ts';
export { registerNotificationRoutes, replaySchema, toPublicNotification } from './routes.ts';
