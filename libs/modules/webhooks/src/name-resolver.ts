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
