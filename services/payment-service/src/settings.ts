/** The settings needed to read a configuration, without loading the service. */
export { paymentServiceConfigSchema, sandboxAddresses } from './config.ts';
export { faultNames, faultOperations } from './faults.ts';
