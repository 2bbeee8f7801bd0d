/** Settings for the configuration, without loading the service. */
export { isNetwork } from './address-guard.ts';
export { webhookShardsMax } from './webhook-shards.ts';
