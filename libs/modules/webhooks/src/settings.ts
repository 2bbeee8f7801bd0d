export { isNetwork } from './address-guard.ts';
export { webhookShardsMax } from './webhook-shards.ts';
