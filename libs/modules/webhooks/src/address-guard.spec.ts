import type { LookupAddress, LookupOptions } from 'node:dns';
import { describe, expect, it } from 'vitest';
import { createAddressGuard, isLoopbackHost, isNetwork, isPublicAddress } from './address-guard.ts';

const toAddress = (address: string): LookupAddress => ({ address, family: address.includes(':') ? 6 : 4 });

function lookUp(
  hostname: string,
  addresses: readonly string[],
  { options = { all: true }, networks = [] }: { options?: LookupOptions; networks?: string[] } = {},
): Promise<unknown> {
  const guard = createAddressGuard(async () => addresses.map(toAddress), networks);
  return new Promise((resolve, reject) => {
    guard.lookup(hostname, options, (error, address) => (error ? reject(error) : resolve(address)));
  });
}

describe('an address is public', () => {
  it.each(['1.1.1.1', '172.15.0.1', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450::1'])(
    'when it is %s',
    (address) => expect(isPublicAddress(address)).toBe(true),
  );

  it.each([
    ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '169.254.169.254', '172.16.0.1', '172.31.255.255'],
    ...['192.0.0.8', '192.168.1.1', '198.18.0.1', '224.0.0.1', '255.255.255.255'],
    ...['::', '::1', '::ffff:127.0.0.1', '::ffff:1.1.1.1', '64:ff9b::a00:1', 'fc00::1', 'fd12::1', 'fe80::1'],
    ...['ff02::1', '2001::1', '2001:db8::1', '2002:7f00:1::', 'not an address', ''],
  ])('not when it is %s', (address) => expect(isPublicAddress(address)).toBe(false));
});

describe('a name', () => {
  it('is connected to at its public addresses only', async () => {
    const addresses = ['10.0.0.1', '1.1.1.1', '::1', '2606:4700::1111'];
    expect(await lookUp('shop.example', addresses)).toEqual(['1.1.1.1', '2606:4700::1111'].map(toAddress));
    expect(await lookUp('shop.example', addresses, { options: {} })).toBe('1.1.1.1');
  });

  it.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '::1'])(
    'that leads to %s is not connected to',
    async (address) => {
      await expect(lookUp('shop.example', [address])).rejects.toMatchObject({ code: 'address_not_allowed' });
    },
  );

  it('may resolve into an allowed network', async () => {
    const networks = ['10.20.0.0/16'];
    expect(await lookUp('shop.example', ['10.20.0.1', '10.21.0.1'], { networks })).toEqual([
      toAddress('10.20.0.1'),
    ]);
  });

  it('localhost resolves to loopback, and nowhere else', async () => {
    expect(await lookUp('localhost', ['127.0.0.1', '1.1.1.1'])).toEqual([toAddress('127.0.0.1')]);
    await expect(lookUp('localhost', ['1.1.1.1'])).rejects.toMatchObject({ code: 'address_not_allowed' });
  });
});

describe('a literal address', () => {
  const { isHostAllowed } = createAddressGuard(async () => [], ['10.20.0.0/16']);

  // As `URL` normalizes host names: it turns 0x7f.1 and 2130706433 into 127.0.0.1.
  it.each(['1.1.1.1', '127.0.0.1', '[::1]', '10.20.3.4', '[2606:4700::1111]', 'shop.example'])(
    'is allowed as %s',
    (host) => expect(isHostAllowed(host)).toBe(true),
  );

  it.each(['10.0.0.1', '169.254.169.254', '[fd00::1]', '[::ffff:a00:1]'])('is not allowed as %s', (host) =>
    expect(isHostAllowed(host)).toBe(false),
  );

  it('is loopback only if written as such', () => {
    expect(['localhost', '127.0.0.1', '127.9.9.9', '[::1]'].every(isLoopbackHost)).toBe(true);
    expect(['localhost.example', 'shop.example', '10.0.0.1', '[::2]'].some(isLoopbackHost)).toBe(false);
  });
});

it('a network consists of an address and a number of bits', () => {
  const right = ['10.20.0.0/16', '10.0.0.0/8', '192.0.2.1/32', '0.0.0.0/0', 'fd00::/8', '::1/128'];
  expect(right.filter((each) => !isNetwork(each))).toEqual([]);
  const wrong = [
    '',
    '10.20.0.0',
    '10.20.0.0/33',
    '10.20.0.0/',
    '10.20.0/16',
    '/8',
    'fd00::/129',
    'a/8',
    '1.1.1.1/-1',
  ];
  expect(wrong.filter(isNetwork)).toEqual([]);
});
