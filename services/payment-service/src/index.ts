export { startPaymentService } from './payment-service.ts';
