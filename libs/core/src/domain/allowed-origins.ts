/**
 * Where the URLs of a team's requests may point: to origins that the team has named beforehand.
 *
 * A list for callbacks is needed, because it is the gateway that calls them, from inside its network. For redirects it is
 * a choice: there it is the customer's browser that goes, wherever the owner of the key sends it, and a team that comes
 * from the Payment Service has no list to bring. Once a team has set one, even an empty one, it holds.
 */
export const originPurposes = ['callback', 'redirect'] as const;
export type OriginPurpose = (typeof originPurposes)[number];

/** Origins of one purpose at most. */
export const originsMax = 50;

/** After a loopback host: whatever port. What runs on a developer's machine takes any free one (RFC 8252, section 7.3). */
const anyPort = ':*';

/**
 * The one way in which an origin is written in a list: scheme, host in lower case and ASCII, port unless it is the
 * default one; `http://localhost:*` is a loopback host with any port. Undefined for what cannot be allowed: plain HTTP to
 * other hosts, a path, a user name, a wildcard in the host, a second spelling of another host.
 */
export function normaliseOrigin(text: string): string | undefined {
  const [, base = '', portMark = ''] = listedPattern.exec(text) ?? [];
  const url = URL.parse(base);
  if (url === null || !isReachedSafely(url)) return undefined;
  if (portMark !== '' && (!isLoopback(url) || /:\d*$/.test(base))) return undefined;
  return url.origin + portMark;
}

const listedPattern = /^(https?:\/\/[^\s/\\?#@%*\p{Cc}]{1,255}?)(:\*)?\/?$/iu;

/** Whether a URL points to one of the origins, which are written as `normaliseOrigin` gives them. */
export function isAllowedOrigin(url: string, origins: readonly string[]): boolean {
  const parsed = URL.parse(url);
  if (parsed === null || !isReachedSafely(parsed) || !isPlainlyWritten(url, parsed)) return false;
  return origins.includes(parsed.origin) || (isLoopback(parsed) && origins.includes(withAnyPort(parsed)));
}

/** As `isAllowedOrigin`; a team without its own list may redirect to HTTPS and to loopback hosts. */
export function isAllowedRedirect(url: string, origins: readonly string[] | undefined): boolean {
  if (origins !== undefined) return isAllowedOrigin(url, origins);
  const parsed = URL.parse(url);
  return parsed !== null && isReachedSafely(parsed) && isPlainlyWritten(url, parsed);
}

const withAnyPort = ({ protocol, hostname }: URL): string => `${protocol}//${hostname}${anyPort}`;

const isLoopback = ({ hostname }: URL): boolean =>
  hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);

/** HTTPS, or a way that does not leave the machine; to a host that has no second name which a list would not know. */
function isReachedSafely(url: URL): boolean {
  const { protocol, hostname } = url;
  if (hostname.endsWith('.') || hostname.startsWith('[::ffff:')) return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(url));
}

/**
 * The URL names its host in the only spelling in which all who read it agree: a user name, a backslash, a percent sign,
 * an octal address or a character that only looks like a letter is read by one as this host, by another as that.
 */
function isPlainlyWritten(text: string, { origin, protocol }: URL): boolean {
  const written = /^https?:\/\/[^/?#]*/i.exec(text)?.[0].toLowerCase();
  const withDefaultPort = `${origin}:${protocol === 'https:' ? 443 : 80}`;
  return written === origin || written === withDefaultPort;
}
