export { paymentServiceConfigSchema } from './config.ts';
export { createPaymentService } from './payment-service.ts';
