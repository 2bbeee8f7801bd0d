/** Settings for the configuration, without loading the service. */
export { reconciledAfterDaysDefault } from './schedule.ts';
