export { createPaymentService } from './payment-service.ts';
