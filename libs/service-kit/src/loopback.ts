import { isIP } from 'node:net';

/** True if an address is local, so that traffic to it cannot be intercepted. Names other than `localhost` are not. */
export function isLoopbackAddress(address: string): boolean {
  if (address === 'localhost' || address === '::1' || address === '[::1]') return true;
  return isIP(address) === 4 && address.startsWith('127.');
}
