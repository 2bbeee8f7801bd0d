import { rootCertificates } from 'node:tls';
import { StartupError } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { parseAccounts } from './account-config.ts';

const [pem = ''] = rootCertificates;
const files = new Map([
  ['/etc/tollgate/main.key', 'key-of-main\n'],
  ['/run/secrets/other.key', 'key-of-other'],
  ['/etc/tollgate/empty.key', '\n'],
  ['/etc/tollgate/two.key', 'key-one\nkey-two\n'],
  ['/etc/tollgate/spaces.key', 'key with spaces'],
  ['/etc/tollgate/ca.pem', pem],
]);

function readText(path: string): string {
  const text = files.get(path);
  if (text === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
  return text;
}
const parseText = (text: string) => parseAccounts(text, { file: '/etc/tollgate/accounts.json', readText });
const parse = (...accounts: unknown[]) => parseText(JSON.stringify({ accounts }));

const main = {
  name: 'main',
  environment: 'production',
  provider: 'payment-service',
  baseUrl: 'https://pay.example',
  privateKeyFile: 'main.key',
};
const { privateKeyFile: _, ...keyless } = main;
const { name: _name, ...nameless } = main;

function messageOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof StartupError && error.code === 'config_invalid') return error.message;
    throw error;
  }
  throw new Error('nothing is wrong with it');
}

describe('an accounts file', () => {
  it('needs little of an account, and sets the rest', () => {
    const [account] = parse(main);
    expect(account).toEqual({
      name: 'main',
      environment: 'production',
      provider: 'payment-service',
      baseUrl: 'https://pay.example',
      weight: 1,
      priority: 0,
      concurrentCallsMax: 64,
      callsPerSecondMax: 1_000,
      failuresInARowMax: 10,
      concurrentInquiriesMax: 32,
      inquiriesPerSecondMax: 200,
      privateKey: account?.privateKey,
    });
    expect(account?.privateKey.reveal()).toBe('key-of-main');
  });

  it('accepts every setting of an account', () => {
    const limits = {
      weight: 7,
      priority: 2,
      concurrentCallsMax: 5,
      callsPerSecondMax: 30,
      failuresInARowMax: 3,
      concurrentInquiriesMax: 4,
      inquiriesPerSecondMax: 9,
    };
    const lists = {
      currencies: ['EUR', 'JPY'],
      teams: ['shop', 'desk-2'],
    };
    const [account] = parse({ ...main, ...limits, ...lists, caFile: './ca.pem' });
    expect(account).toMatchObject({ ...limits, ...lists, ca: pem });
  });

  it('takes keys from files, with relative or absolute paths', () => {
    const accounts = parse(main, { ...main, name: 'other', privateKeyFile: '/run/secrets/other.key' });
    expect(accounts.map(({ privateKey }) => privateKey.reveal())).toEqual(['key-of-main', 'key-of-other']);
  });

  it('hides the key when printed', () => {
    expect(JSON.stringify(parse(main))).not.toContain('key-of-main');
  });

  it('may use a name once in each environment', () => {
    const accounts = parse(main, { ...main, environment: 'sandbox' });
    expect(accounts.map(({ environment }) => environment)).toEqual(['production', 'sandbox']);
  });

  const [nameRule, whole] = ['must be 1 to 63 lower-case letters', 'must be a whole number from 1 to'];
  it.each<[string, object, string]>([
    ['an unknown field', { ...main, wieght: 2 }, '"wieght" is not a field. Remove it or correct its name'],
    ['a private key', { ...main, privateKey: 'hush' }, '"privateKey" is not a field'],
    ['no key', keyless, 'privateKeyFile is missing'],
    [
      'a key file that is not there',
      { ...main, privateKeyFile: 'hush' },
      'privateKeyFile names a file that cannot be read (ENOENT); relative paths begin at /etc/tollgate',
    ],
    [
      'an empty key file',
      { ...main, privateKeyFile: 'empty.key' },
      'privateKeyFile names a file that must hold one private key',
    ],
    [
      'two keys in the key file',
      { ...main, privateKeyFile: 'two.key' },
      'privateKeyFile names a file that must hold one private key',
    ],
    [
      'spaces in the key file',
      { ...main, privateKeyFile: 'spaces.key' },
      'privateKeyFile names a file that must hold one private key',
    ],
    ['an empty path', { ...main, privateKeyFile: '' }, 'privateKeyFile must be the path of a file'],
    [
      'a certificate that is not there',
      { ...main, caFile: 'hush' },
      'caFile names a file that cannot be read (ENOENT)',
    ],
    [
      'a certificate that is none',
      { ...main, caFile: 'main.key' },
      'caFile names a file that must hold a certificate in PEM form',
    ],
    ['no address', { ...main, baseUrl: undefined }, 'baseUrl is missing'],
    [
      'plain HTTP',
      { ...main, baseUrl: 'http://pay.example' },
      'baseUrl must be an address that begins with https://',
    ],
    ['an address that is none', { ...main, baseUrl: 'hush' }, 'baseUrl must be an address'],
    [
      'a password in the address',
      { ...main, baseUrl: 'https://me:hush@pay.example' },
      'without user name, password',
    ],
    [
      'a query in the address',
      { ...main, baseUrl: 'https://pay.example?hush' },
      'baseUrl must be an address',
    ],
    ['another environment', { ...main, environment: 'hush' }, 'environment must be sandbox or production'],
    ['no environment', { ...main, environment: undefined }, 'environment is missing'],
    [
      'a currency that is none',
      { ...main, currencies: ['EUR', 'EURO'] },
      'currencies[1] must be an ISO 4217 alphabetic code',
    ],
    [
      'a currency without a list',
      { ...main, currencies: 'EUR' },
      'currencies must be a list of at least one currency',
    ],
    [
      'no currency at all',
      { ...main, currencies: [] },
      'currencies must be a list of at least one currency, or be left out',
    ],
    ['a team that is none', { ...main, teams: ['No Team'] }, 'teams[0] must be 1 to 63 lower-case letters'],
    ['no team at all', { ...main, teams: [] }, 'teams must be a list of the name of at least one team'],
    ['weight 0', { ...main, weight: 0 }, `weight ${whole} 1000000`],
    ['a priority below 0', { ...main, priority: -1 }, 'priority must be a whole number from 0 to 1000'],
    ['no calls at once', { ...main, concurrentCallsMax: 0 }, `concurrentCallsMax ${whole}`],
    ['no calls per second', { ...main, callsPerSecondMax: 0 }, `callsPerSecondMax ${whole}`],
  ])('with %s is refused: file, entry and field are named, values are not', (_fault, entry, fault) => {
    const message = messageOf(() => parse({ ...main, name: 'first' }, entry));
    expect(message).toContain(
      'Correct the accounts file /etc/tollgate/accounts.json and start again: accounts[1]',
    );
    expect(message).toContain(fault);
    expect(message).not.toContain('hush');
    expect(message.match(/accounts\[/g)).toHaveLength(1);
  });

  it.each<[string, object, string]>([
    ['without a name', nameless, 'accounts[0].name is missing'],
    ['with a name in capitals', { ...main, name: 'Main' }, `accounts[0].name ${nameRule}`],
    ['that is a text', 'main' as unknown as object, 'accounts[0] must be an object'],
  ])('with an entry %s is refused, by its place', (_fault, entry, fault) => {
    expect(messageOf(() => parse(entry))).toContain(fault);
  });

  it('with the same name twice in one environment is refused', () => {
    expect(messageOf(() => parse(main, { ...main, name: 'other' }, main))).toContain(
      'accounts[2]: name is that of accounts[0] in the same environment; give each account its own',
    );
  });

  // M5: two teams adopted the same payment, each through its own name of one merchant, and both paid it out.
  it('that is one merchant under two names in an environment is refused, with both names', () => {
    const second = { ...main, name: 'second' };
    expect(messageOf(() => parse(main, { ...second, baseUrl: 'https://PAY.example/' }))).toContain(
      '"main" and "second" in production have the same baseUrl and key; keep one of them',
    );
    expect(parse(main, { ...second, environment: 'sandbox' })).toHaveLength(2);
    expect(parse(main, { ...second, baseUrl: 'https://other.example' })).toHaveLength(2);
    expect(parse(main, { ...second, privateKeyFile: '/run/secrets/other.key' })).toHaveLength(2);
  });

  it('has all its faults named at once, up to a bound', () => {
    const message = messageOf(() =>
      parse({ ...main, weight: 0 }, { ...main, currencies: ['X'], teams: [''] }),
    );
    for (const field of ['accounts[0].weight', 'accounts[1].currencies[0]', 'accounts[1].teams[0]'])
      expect(message).toContain(field);
    const many = messageOf(() => parse(...Array<object>(25).fill({ ...main, weight: 0 })));
    expect(many.match(/weight/g)).toHaveLength(10);
    expect(many).toMatch(/; and 15 more\.$/);
    const keys = messageOf(() => parse({ ...main, privateKeyFile: 'no.key', caFile: 'no.pem' }, main));
    for (const fault of ['privateKeyFile names', 'caFile names', 'accounts[1]: name is that'])
      expect(keys).toContain(fault);
  });

  it.each([
    ['is empty', '', 'it is not JSON'],
    ['is cut off', '{\n  "accounts": []', 'it is not JSON (line 2 column 17)'],
    ['holds a text without quotes', '{"accounts": [hush]}', 'it is not JSON'],
    ['is a list', '[]', 'must be an object {"accounts": […]}'],
    ['holds no list', '{}', 'accounts is missing'],
    ['holds something else', '{"accounts": {}}', 'accounts must be a list of 1 to 100 accounts'],
    ['holds no account', '{"accounts": []}', 'accounts must be a list of 1 to 100 accounts'],
    [
      'holds too many',
      JSON.stringify({ accounts: Array(101).fill(main) }),
      'accounts must be a list of 1 to 100',
    ],
    [
      'contains other fields',
      JSON.stringify({ accounts: [main], acounts: [] }),
      '"acounts" is not a field. Remove it or correct its name (fields: accounts)',
    ],
  ])('that %s is refused', (_fault, text, fault) => {
    const message = messageOf(() => parseText(text));
    expect(message).toContain(fault);
    expect(message).not.toContain('hush');
  });
});
