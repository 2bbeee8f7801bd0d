import { expect, test } from 'vitest';
import { createNetworkList, normalizeNetwork } from './networks.ts';

test.each([
  ['10.20.0.0/16', '10.20.0.0/16'],
  [' 203.0.113.7 ', '203.0.113.7/32'],
  ['2001:DB8::/32', '2001:db8::/32'],
  ['::1', '::1/128'],
  ['0.0.0.0/0', '0.0.0.0/0'],
])('%j is normalized to %s', (text, written) => expect(normalizeNetwork(text)).toBe(written));

test.each([
  ...['', '10.20.0.0/33', '2001:db8::/129', '10.20.0/16', 'example.com', '10.0.0.0/8/8', '10.0.0.0/-1'],
  ...['10.0.0.0/', '/8', 'fe80::1%eth0', '::ffff:10.0.0.0/104', '010.0.0.1', '1', '10.0.0.0/1e1'],
])('%j is not a network', (text) => expect(normalizeNetwork(text)).toBeUndefined());

test('an address matches its own kind of network, including IPv4 over an IPv6 socket', () => {
  const { has } = createNetworkList(['10.20.0.0/16', '2001:db8::/32', '203.0.113.7/32']);
  for (const inside of ['10.20.255.1', '::ffff:10.20.0.1', '2001:db8:1::9', '203.0.113.7'])
    expect(has(inside), inside).toBe(true);
  for (const outside of ['10.21.0.1', '::ffff:10.21.0.1', '2001:db9::1', '203.0.113.8', '::1'])
    expect(has(outside), outside).toBe(false);
});

test('a text that is not an address is in no network', () => {
  const { has } = createNetworkList(['0.0.0.0/0', '::/0']);
  for (const text of ['', 'unknown', '10.0.0.1, 10.0.0.2', '10.0.0.1:443', '[::1]'])
    expect(has(text), text).toBe(false);
});
