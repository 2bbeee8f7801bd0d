export { isNetwork } from './address-guard.ts';
export { webhookShardsMax } from './fair-queue.ts';
