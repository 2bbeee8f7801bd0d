/** What a configuration has to know, apart from the service: reading one loads no service. */
export { paymentServiceConfigSchema } from './config.ts';
export { faultNames, faultOperations } from './faults.ts';
