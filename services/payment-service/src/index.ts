export { paymentServiceConfigSchema, type PaymentServiceConfig } from './config.ts';
export {
  createPaymentService,
  type PaymentService,
  type PaymentServiceAddresses,
  type PaymentServiceDeps,
} from './payment-service.ts';
export type { Registration } from './keys.ts';
