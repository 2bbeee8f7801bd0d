export { createAuthority, issue, json, startHttpsPeer } from './https-peer.ts';
export { describeProvider, type ProviderUnderTest } from './provider.contract.ts';
