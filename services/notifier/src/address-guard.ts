/**
 * Where a webhook may go. A team names its own receivers, so without this it could have us call machines that only
 * we can reach. The check is made on the very addresses that are connected to: a name that resolves to a public address
 * when it is looked at and to a private one when it is used gets nowhere.
 *
 * Not covered: an address of ours that is publicly routable, and a NAT64 prefix of the network's own.
 */
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { TollgateError } from '@tollgate/service-kit';
import type { Resolve } from './name-resolver.ts';

// IANA's registries of special-purpose addresses: what is there is not globally reachable, or leads on to what is not.
const privateIPv4 = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
];
// Of IPv6 only 2000::/3 is global, and in it there are these: Teredo and its neighbours, documentation, 6to4.
const globalIPv6 = ['2000::/3'];
const specialIPv6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];
const loopback = ['127.0.0.0/8', '::1/128'];

/** True for a network in CIDR notation, for example 10.20.0.0/16. */
export function isNetwork(text: string): boolean {
  const [, address = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const bitsMax = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return Number(bits) <= bitsMax;
}

const blockListOf = (subnets: readonly string[]): BlockList => {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [network = '', prefix] = subnet.split('/');
    list.addSubnet(network, Number(prefix), isIP(network) === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
};

const lists = {
  privateIPv4: blockListOf(privateIPv4),
  globalIPv6: blockListOf(globalIPv6),
  specialIPv6: blockListOf(specialIPv6),
  loopback: blockListOf(loopback),
};

type Check = (address: string) => boolean;

const isIn =
  (list: BlockList): Check =>
  (address) =>
    list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

export const isLoopbackAddress = isIn(lists.loopback);

export function isPublicAddress(address: string): boolean {
  if (isIP(address) === 4) return !lists.privateIPv4.check(address, 'ipv4');
  if (isIP(address) !== 6) return false;
  return lists.globalIPv6.check(address, 'ipv6') && !lists.specialIPv6.check(address, 'ipv6');
}

/** `[::1]` of a URL as an address. */
const withoutBrackets = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

/** True where a URL names this machine outright. Whoever allows such an origin means it. */
export const isLoopbackHost = (hostname: string): boolean =>
  hostname === 'localhost' ||
  (isIP(withoutBrackets(hostname)) > 0 && isLoopbackAddress(withoutBrackets(hostname)));

export class AddressNotAllowed extends TollgateError {
  constructor() {
    super('address_not_allowed', 'A host leads to addresses that are not public.');
  }
}

export interface AddressGuard {
  /** False for an address written out that may not be called. A name is looked at when it is connected to. */
  isHostAllowed(hostname: string): boolean;
  /** Gives sockets only addresses that may be called: public ones, or for `localhost` loopback. */
  lookup: LookupFunction;
}

/** @param allowedNetworks networks (CIDR) that may be called besides the public one, where teams have receivers in them */
export function createAddressGuard(resolve: Resolve, allowedNetworks: readonly string[] = []): AddressGuard {
  const isInAllowedNetwork = isIn(blockListOf(allowedNetworks));
  const isAllowed: Check = (address) => isPublicAddress(address) || isInAllowedNetwork(address);
  return {
    isHostAllowed: (hostname) => {
      const host = withoutBrackets(hostname);
      return isIP(host) === 0 || isLoopbackAddress(host) || isAllowed(host);
    },
    lookup: (hostname, options, callback) => {
      const mayCall = isLoopbackHost(hostname) ? isLoopbackAddress : isAllowed;
      const fail = (error: NodeJS.ErrnoException) => callback(error, []);
      resolve(hostname).then((addresses) => {
        const allowed = addresses.filter(({ address }) => mayCall(address));
        const [first] = allowed;
        if (first === undefined) fail(new AddressNotAllowed());
        else if (options.all === true) callback(null, allowed);
        else callback(null, first.address, first.family);
      }, fail);
    },
  };
}
