export { reconciledAfterDaysDefault } from './schedule.ts';
