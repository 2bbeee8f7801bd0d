import { Secret, StartupError } from '@tollgate/service-kit';

/** A node of the cluster, or the DNS name of all of them. */
interface StoreHost {
  address: string;
  port: number;
}

/** A validated connection string, without the parts that only the start needs. */
export interface ConnectionString {
  /** The hosts are queried for the nodes of their cluster, and the leader is used. */
  discovers: boolean;
  hosts: readonly StoreHost[];
  /** True unless it contains `tls=false`. */
  tls: boolean;
  credentials?: { username: string; password: Secret };
  /** PEM file of an authority that is trusted for the nodes, instead of the usual ones. */
  tlsCaFile?: string;
  /** Names this process in the server's logs. */
  connectionName?: string;
}

const portDefault = 2_113;
const pattern = /^(?:esdb|kurrentdb|kurrent|kdb)(\+discover)?:\/\/(?:([^@/]*)@)?([^/?#]+)\/?(?:\?([^#]*))?$/;
const hostPattern = /^(\[[0-9a-fA-F:]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/;

/**
 * Parses `esdb://user:password@host:2113,host2?tls=true`, `esdb+discover://…`, or the same with a scheme of KurrentDB. The
 * client's own parser prints the text with the password in errors and debug lines.
 *
 * @throws StartupError with the name of `variable` and the fault, without the text
 */
export function parseConnectionString(text: string, variable: string): ConnectionString {
  const refuse = (what: string) => new StartupError('config_invalid', `${variable} ${what}.`);
  const [, discover, user, hostList = '', query = ''] = pattern.exec(text.trim()) ?? [];
  if (hostList === '')
    throw refuse('must be esdb://host:port, or several of them separated by commas, or esdb+discover://name');
  const parsed: ConnectionString = {
    discovers: discover !== undefined || hostList.includes(','),
    hosts: hostList.split(',').map((host) => toHost(host, refuse)),
    tls: true,
    ...(user === undefined ? {} : { credentials: toCredentials(user, refuse) }),
  };
  if (discover !== undefined && parsed.hosts.length > 1)
    throw refuse('names several hosts after esdb+discover://, which takes one name that DNS knows');
  const options = query.split('&').filter((option) => option !== '');
  return options.reduce((soFar, option) => withOption(soFar, option, refuse), parsed);
}

type Refuse = (what: string) => StartupError;

function toHost(text: string, refuse: Refuse): StoreHost {
  const [, address, digits] = hostPattern.exec(text.trim()) ?? [];
  const port = digits === undefined ? portDefault : Number(digits);
  if (address === undefined || port < 1 || port > 65_535) throw refuse('has a host that is not host:port');
  return { address, port };
}

function toCredentials(text: string, refuse: Refuse): { username: string; password: Secret } {
  const [username = '', password = '', ...rest] = text.split(':');
  if (username === '' || password === '' || rest.length > 0)
    throw refuse('must name the user as user:password@, with special characters percent-encoded');
  return { username: decoded(username, refuse), password: new Secret(decoded(password, refuse)) };
}

function decoded(text: string, refuse: Refuse): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw refuse('is not percent-encoded as it should be');
  }
}

function withOption(parsed: ConnectionString, option: string, refuse: Refuse): ConnectionString {
  const at = option.indexOf('=');
  const name = at === -1 ? option : option.slice(0, at);
  const value = at === -1 ? '' : decoded(option.slice(at + 1), refuse);
  const key = name.toLowerCase().replace(/[_-]/g, '');
  switch (key) {
    case 'tls':
      if (value !== 'true' && value !== 'false') throw refuse('has tls, which must be true or false');
      return { ...parsed, tls: value === 'true' };
    case 'tlsverifycert':
      if (value === 'true') return parsed;
      throw refuse('has tlsVerifyCert=false: name the authority of the nodes by tlsCaFile instead');
    case 'tlscafile':
      return { ...parsed, tlsCaFile: value };
    case 'connectionname':
      return { ...parsed, connectionName: value };
    case 'nodepreference':
      if (value.toLowerCase() === 'leader') return parsed;
      throw refuse('has nodePreference, which can only be leader: other nodes lag');
    default:
      // A password with a question mark in it ends up here: even the name is not repeated.
      throw refuse(
        'has an option that is none of tls, tlsCaFile, tlsVerifyCert, connectionName, nodePreference',
      );
  }
}
