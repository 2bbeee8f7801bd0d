/** What a configuration has to know, apart from the service: reading one loads no service. */
export { reconciledAfterDaysDefault } from './schedule.ts';
