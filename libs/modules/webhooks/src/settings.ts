/** What a configuration has to know, apart from the service: reading one loads no service. */
export { isNetwork } from './address-guard.ts';
export { webhookShardsMax } from './webhook-shards.ts';
