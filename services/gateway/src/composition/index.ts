/** The composition of services, for the simulation. */
export { gatewayConfigSchema } from '../configuration/config.ts';
export { inBackground, type RunAlone } from './background.ts';
export { joinStore } from './join-store.ts';
export type { Parts } from './parts.ts';
export { startCommandService } from './services/command-service.ts';
export { startNotifier } from './services/notifier.ts';
export { startEventPublisher, startProjector } from './services/followers.ts';
export { startQueryService } from './services/query-service.ts';
