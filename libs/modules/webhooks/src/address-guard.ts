/**
 * Decides where a webhook may go. Teams choose their own receivers, so without this guard a team could make us call internal
 * machines. The guard checks the addresses of the connection itself, so that a name that resolves to a public address first and
 * to a private one later is refused.
 *
 * Not covered: our own publicly routable address, and a NAT64 prefix specific to the network.
 */
import ipaddr from 'ipaddr.js';
import { isIP, type LookupFunction } from 'node:net';
import { TollgateError } from '@tollgate/service-kit';
import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** Timeout of one query to a name server, milliseconds, and number of tries. */
const questionTimeoutMs = 2_000;
const questionsMax = 2;

const loopback: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Queries the system's name servers. Not with `dns.lookup`: that blocks one of the few threads that also read files, so one
 * team's slow name server would delay all others. As a consequence `/etc/hosts` is ignored.
 *
 * @param servers name servers to query instead, `address:port`
 */
export function createResolve(servers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: questionTimeoutMs, tries: questionsMax });
  if (servers !== undefined) resolver.setServers(servers);
  return async (hostname) => {
    if (hostname === 'localhost') return loopback;
    const answers = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = answers.flatMap((answer, index) =>
      answer.status === 'fulfilled'
        ? answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 }))
        : [],
    );
    const [failed] = answers.flatMap((answer) =>
      answer.status === 'rejected' ? [answer.reason as unknown] : [],
    );
    if (addresses.length === 0) throw failed;
    return addresses;
  };
}

/** Other addresses are not allocated yet. */
const globalIPv6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** True for a network in CIDR notation, for example 10.20.0.0/16. */
export const isNetwork = (text: string): boolean =>
  isIP(text.split('/')[0] ?? '') > 0 && ipaddr.isValidCIDR(text);

type Check = (address: string) => boolean;

function isIn(networks: readonly string[]): Check {
  const ranges = networks.map((network) => ipaddr.parseCIDR(network));
  return (text) => {
    const address = ipaddr.parse(text);
    return ranges.some((range) => address.kind() === range[0].kind() && address.match(range));
  };
}

const isLoopbackAddress: Check = (address) => ipaddr.parse(address).range() === 'loopback';

/** `unicast` excludes every special-purpose range, and IPv4 addresses mapped into IPv6. */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0) return false;
  const address = ipaddr.parse(text);
  return address.range() === 'unicast' && (address instanceof ipaddr.IPv4 || address.match(globalIPv6));
}

/** `[::1]` of a URL as an address. */
const withoutBrackets = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

/** True if a URL names this machine explicitly. A team that allows such an origin means it. */
export const isLoopbackHost = (hostname: string): boolean =>
  hostname === 'localhost' ||
  (isIP(withoutBrackets(hostname)) > 0 && isLoopbackAddress(withoutBrackets(hostname)));

export class AddressNotAllowed extends TollgateError {
  constructor() {
    super('address_not_allowed', 'A host resolves to addresses that are not public.');
  }
}

export type AddressGuard = ReturnType<typeof createAddressGuard>;

/** @param allowedNetworks additional networks (CIDR) with receivers of teams */
export function createAddressGuard(resolve: Resolve, allowedNetworks: readonly string[] = []) {
  const isInAllowedNetwork = isIn(allowedNetworks);
  const isAllowed: Check = (address) => isPublicAddress(address) || isInAllowedNetwork(address);
  return {
    /** False for a literal address that may not be called. A name is checked on connecting. */
    isHostAllowed: (hostname: string): boolean => {
      const host = withoutBrackets(hostname);
      return isIP(host) === 0 || isLoopbackAddress(host) || isAllowed(host);
    },
    /** Gives sockets only addresses that may be called: public ones, or for `localhost` loopback. */
    lookup: ((hostname, options, callback) => {
      const mayCall = isLoopbackHost(hostname) ? isLoopbackAddress : isAllowed;
      const fail = (error: NodeJS.ErrnoException) => callback(error, []);
      resolve(hostname).then((addresses) => {
        const allowed = addresses.filter(({ address }) => mayCall(address));
        const [first] = allowed;
        if (first === undefined) fail(new AddressNotAllowed());
        else if (options.all === true) callback(null, allowed);
        else callback(null, first.address, first.family);
      }, fail);
    }) as LookupFunction,
  };
}
