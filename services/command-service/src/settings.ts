/** What a configuration has to know, apart from the service: reading one loads no service. */
export { callbackGroup } from './callbacks/callback-group.ts';
export { reconciledAfterDaysDefault } from './reconciliation/schedule.ts';
