export { paymentServiceConfigSchema } from './config.ts';
export { faultNames, faultOperations } from './faults.ts';
export { createPaymentService } from './payment-service.ts';
