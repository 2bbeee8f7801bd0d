import { describe, expect, test } from 'vitest';
import { isAllowedOrigin, isAllowedRedirect, normalizeOrigin } from './allowed-origins.ts';

describe('an origin is listed in one spelling', () => {
  test.each([
    ['https://shop.example', 'https://shop.example'],
    ['https://shop.example/', 'https://shop.example'],
    ['HTTPS://Shop.EXAMPLE:443', 'https://shop.example'],
    ['https://shop.example:8443', 'https://shop.example:8443'],
    ['https://büro.example', 'https://xn--bro-hoa.example'],
    ['https://10.0.0.7', 'https://10.0.0.7'],
    ['https://[2001:DB8::0:1]:444', 'https://[2001:db8::1]:444'],
    ['http://localhost', 'http://localhost'],
    ['http://localhost:80', 'http://localhost'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080'],
    ['http://[::1]:8080', 'http://[::1]:8080'],
    ['http://localhost:*', 'http://localhost:*'],
    ['http://127.1.2.3:*/', 'http://127.1.2.3:*'],
    ['https://[::1]:*', 'https://[::1]:*'],
  ])('%s as %s', (text, origin) => {
    expect(normalizeOrigin(text)).toBe(origin);
    expect(normalizeOrigin(origin)).toBe(origin);
  });
});

describe('is never listed', () => {
  test.each([
    ['nothing', ''],
    ['no URL', 'shop.example'],
    ['another scheme', 'ftp://shop.example'],
    ['a script', 'javascript:alert(1)'],
    ['plain HTTP to another host', 'http://shop.example'],
    ['plain HTTP to the private network', 'http://10.0.0.7'],
    ['plain HTTP to a name under localhost', 'http://evil.localhost'],
    ['plain HTTP to a name that begins like loopback', 'http://127.0.0.1.evil.example'],
    ['a path', 'https://shop.example/callbacks'],
    ['a query', 'https://shop.example?a'],
    ['a fragment', 'https://shop.example#a'],
    ['a user name', 'https://user@shop.example'],
    ['a password', 'https://user:pass@shop.example'],
    ['a backslash', 'https://shop.example\\'],
    ['a percent sign', 'https://sh%6fp.example'],
    ['a space', 'https://shop.example '],
    ['a line break', 'https://shop.example\n'],
    ['a tab in the host', 'https://shop\t.example'],
    ['any host', 'https://*'],
    ['any host under another', 'https://*.shop.example'],
    ['any port of another host', 'https://shop.example:*'],
    ['any port after a port', 'http://localhost:80:*'],
    ['a dot at the end, which is a second name of the host', 'https://shop.example.'],
    ['a dot after loopback', 'http://localhost.'],
    ['an IPv6 spelling of an IPv4 address', 'https://[::ffff:10.0.0.7]'],
    ['an IPv6 spelling of loopback', 'http://[::ffff:127.0.0.1]'],
    ['a port that is none', 'https://shop.example:99999'],
    ['a name that is longer than any', `https://${'a.'.repeat(200)}example`],
  ])('%s', (_, text) => {
    expect(normalizeOrigin(text)).toBeUndefined();
  });
});

const origins = [
  'https://shop.example',
  'https://shop.example:8443',
  'https://xn--bro-hoa.example',
  'http://localhost:*',
];

describe('a URL is allowed if its origin is listed', () => {
  test.each([
    'https://shop.example',
    'https://shop.example/',
    'https://shop.example/callbacks?order=1#top',
    'https://shop.example?next=https://evil.example/@x',
    'https://SHOP.example/a',
    'https://shop.example:443/a',
    'https://shop.example:8443/a',
    'https://xn--bro-hoa.example/a',
    'http://localhost/a',
    'http://localhost:80/a',
    'http://localhost:4711/a',
  ])('%s', (url) => {
    expect(isAllowedOrigin(url, origins)).toBe(true);
  });
});

// Parsers disagree about the host of each of these.
const ambiguous = [
  'https://shop.example@evil.example/',
  'https://user@shop.example/',
  'https://:pass@shop.example/',
  'https://@shop.example/',
  'https://shop.example\\@evil.example/',
  'https://shop.example\\.evil.example/',
  'https:\\\\shop.example/',
  'https:/shop.example/',
  'https:shop.example/',
  'https:///shop.example/',
  'https://sh%6fp.example/',
  'https://ｓhop.example/',
  'https://shop。example/',
  'https://shop\t.example/',
  'https://sho\np.example/',
  ' https://shop.example/',
  'https://shop.example:/',
  'https://shop.example:0443/',
  'https://shop.example./',
];

describe('a URL is refused', () => {
  test.each([
    '',
    'shop.example',
    '/callbacks',
    'javascript:alert(1)//https://shop.example',
    'https://evil.example/https://shop.example',
    'https://evil.example',
    'https://shop.example.evil.example/',
    'https://evilshop.example/',
    'https://www.shop.example/',
    'https://shop.example:444/',
    'http://shop.example/',
    'http://shop.example:443/',
    'https://shоp.example/', // with a Cyrillic о
    'https://localhost/',
    'http://127.0.0.1/',
    'http://[::1]/',
    'http://localhost.evil.example/',
    ...ambiguous,
  ])('%j', (url) => {
    expect(isAllowedOrigin(url, origins)).toBe(false);
  });

  test.each([
    'http://2130706433/',
    'http://0x7f.1/',
    'http://0177.0.0.1/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
  ])('another spelling of loopback: %s', (url) => {
    expect(isAllowedOrigin('http://127.0.0.1/', ['http://127.0.0.1:*'])).toBe(true);
    expect(isAllowedOrigin(url, ['http://127.0.0.1:*', 'http://[::ffff:7f00:1]'])).toBe(false);
  });

  test('if the list is empty', () => {
    expect(isAllowedOrigin('https://shop.example/', [])).toBe(false);
    expect(isAllowedRedirect('https://shop.example/', [])).toBe(false);
  });

  test('if the list contains an invalid entry, such as plain HTTP', () => {
    expect(isAllowedOrigin('http://shop.example/', ['http://shop.example'])).toBe(false);
    expect(isAllowedOrigin('https://shop.example:1/', ['https://shop.example:*'])).toBe(false);
  });
});

describe('a team without a list of redirects', () => {
  test.each(['https://shop.example/thanks', 'https://anywhere.example:444/', 'http://localhost:8080/thanks'])(
    'may redirect customers to %s',
    (url) => {
      expect(isAllowedRedirect(url, undefined)).toBe(true);
    },
  );

  test.each(['http://shop.example/', 'javascript:alert(1)', 'data:text/html,a', ...ambiguous])(
    'may not redirect customers to %j',
    (url) => {
      expect(isAllowedRedirect(url, undefined)).toBe(false);
    },
  );

  test('uses its list as soon as it is set', () => {
    expect(isAllowedRedirect('https://shop.example/thanks', ['https://shop.example'])).toBe(true);
    expect(isAllowedRedirect('https://anywhere.example/', ['https://shop.example'])).toBe(false);
  });
});
