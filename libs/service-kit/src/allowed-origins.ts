/**
 * Origins that the URLs in a team's requests may use.
 *
 * A list for callbacks is required, because the gateway itself calls them from inside its network. A list for redirects is
 * optional: the customer's browser follows them, and a team that migrates from the Payment Service has no list. Once set,
 * even an empty list applies.
 */
export const originPurposes = ['callback', 'redirect'] as const;
export type OriginPurpose = (typeof originPurposes)[number];

/** Maximum number of origins per purpose. */
export const originsMax = 50;

/** After a loopback host: any port. Development servers use any free port (RFC 8252, section 7.3). */
const anyPort = ':*';

/**
 * The canonical form of an origin in a list: scheme, host in lower case and ASCII, and a port other than the default.
 * `http://localhost:*` is a loopback host with any port. Undefined if not allowed: plain HTTP to other hosts, a path, a
 * user name, a wildcard in the host, an alternative spelling of a host.
 */
export function normalizeOrigin(text: string): string | undefined {
  const [, base = '', portMark = ''] = listedPattern.exec(text) ?? [];
  const url = URL.parse(base);
  if (url === null || !isReachedSafely(url)) return undefined;
  if (portMark !== '' && (!isLoopback(url) || /:\d*$/.test(base))) return undefined;
  return url.origin + portMark;
}

const listedPattern = /^(https?:\/\/[^\s/\\?#@%*\p{Cc}]{1,255}?)(:\*)?\/?$/iu;

/** True if the URL points to one of the origins, given in canonical form (`normalizeOrigin`). */
export function isAllowedOrigin(url: string, origins: readonly string[]): boolean {
  const parsed = URL.parse(url);
  if (parsed === null || !isReachedSafely(parsed) || !isPlainlyWritten(url, parsed)) return false;
  return origins.includes(parsed.origin) || (isLoopback(parsed) && origins.includes(withAnyPort(parsed)));
}

/** As `isAllowedOrigin`; a team without a list may redirect to HTTPS and to loopback hosts. */
export function isAllowedRedirect(url: string, origins: readonly string[] | undefined): boolean {
  if (origins !== undefined) return isAllowedOrigin(url, origins);
  const parsed = URL.parse(url);
  return parsed !== null && isReachedSafely(parsed) && isPlainlyWritten(url, parsed);
}

const withAnyPort = ({ protocol, hostname }: URL): string => `${protocol}//${hostname}${anyPort}`;

const isLoopback = ({ hostname }: URL): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);

/** HTTPS, or local to the machine; the host has no alternative spelling that a list would miss. */
function isReachedSafely(url: URL): boolean {
  const { protocol, hostname } = url;
  if (hostname.endsWith('.') || hostname.startsWith('[::ffff:')) return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(url));
}

/**
 * The URL spells its host in the one way on which all parsers agree: a user name, a backslash, a percent sign, an octal
 * address or a look-alike character is read as different hosts by different parsers.
 */
function isPlainlyWritten(text: string, { origin, protocol }: URL): boolean {
  const written = /^https?:\/\/[^/?#]*/i.exec(text)?.[0].toLowerCase();
  const withDefaultPort = `${origin}:${protocol === 'https:' ? 443 : 80}`;
  return written === origin || written === withDefaultPort;
}
