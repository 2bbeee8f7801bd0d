export { isNetwork } from './address-guard.ts';
