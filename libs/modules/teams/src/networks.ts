/** Networks in CIDR notation from which a key may be used. */
import { BlockList, isIP } from 'node:net';

/** Maximum networks per key. */
export const networksMax = 20;

/**
 * The canonical form of a network: `10.20.0.0/16`, `2001:db8::/32`; a single address is a network of one. Undefined for any
 * other text, and for IPv4 written as IPv6 (`::ffff:…`): such callers are compared as IPv4.
 */
export function normalizeNetwork(text: string): string | undefined {
  const [, address = '', length] = /^([0-9a-f:.]+)(?:\/(\d{1,3}))?$/i.exec(text.trim()) ?? [];
  const version = isIP(address);
  const bits = version === 4 ? 32 : 128;
  const prefix = length === undefined ? bits : Number(length);
  if (version === 0 || prefix > bits || /^::ffff:/i.test(address)) return undefined;
  return `${address.toLowerCase()}/${prefix}`;
}

/** @param networks as `normalizeNetwork` returns them */
export function createNetworkList(networks: readonly string[]): { has(address: string): boolean } {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    list.addSubnet(address, Number(prefix), isIP(address) === 4 ? 'ipv4' : 'ipv6');
  }
  return {
    has: (address) => {
      const [bare = ''] = address.split('%', 1);
      const version = isIP(bare);
      return version > 0 && list.check(bare, version === 4 ? 'ipv4' : 'ipv6');
    },
  };
}
