import { isIP } from 'node:net';

/** Whether an address is this machine's own, so that nobody is on the way to it. Names other than `localhost` are not. */
export function isLoopbackAddress(address: string): boolean {
  if (address === 'localhost' || address === '::1' || address === '[::1]') return true;
  return isIP(address) === 4 && address.startsWith('127.');
}
