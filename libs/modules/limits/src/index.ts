export { createSpendingGuard } from './spending.ts';
