/** Limits of a team, changed over the admin API: like the command line, by an admin, where the signing key is. */
import type { EventStore } from '@tollgate/event-store';
import { createSecurityLog, readAudit, recordTeamChanges, type OperatorRole } from '@tollgate/teams';
import { givenTeam, testVerifier } from '@tollgate/teams/testing';
import { silentLog, systemClock, systemIds } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { startApi } from './testing/api.ts';

const ofPayouts = { environment: 'production', operation: 'payout', currency: 'EUR' };
const inEuro = { environment: 'production', currency: 'EUR' };

async function start(isSigning = true) {
  const seed = async (store: EventStore): Promise<void> => {
    await givenTeam(store, { team: 'shop', keyId: 'k1' });
  };
  const api = await startApi(seed, { isSigning });
  const set = async (path: string, payload: object, role: OperatorRole = 'admin') => {
    const answer = await api.askAs(role, `teams/${path}`, payload);
    return { statusCode: answer.statusCode, ...answer.json<{ team?: object; errors?: object[] }>() };
  };
  return { ...api, set };
}

const each: [path: string, body: object, shown: object][] = [
  [
    'origins',
    { purpose: 'callback', origins: ['https://Shop.example/', 'http://127.0.0.1:*'] },
    { callbackOrigins: ['https://shop.example', 'http://127.0.0.1:*'] },
  ],
  ['origins', { purpose: 'redirect', origins: [] }, { redirectOrigins: [] }],
  ['wallet', { wallet: { kind: 'shared', name: 'group' } }, { wallet: { kind: 'shared', name: 'group' } }],
  ['wallet', { wallet: { kind: 'provider' } }, { wallet: { kind: 'provider' } }],
  ['wallet', { wallet: { kind: 'own' } }, { wallet: { kind: 'own' } }],
  ['approvals', { ...inEuro, above: 0 }, { approvals: [{ ...inEuro, above: 0 }] }],
  ['approvals', { ...inEuro, above: null }, { approvals: [] }],
  ['limits', { ...ofPayouts, perCall: 500, perDay: null }, { limits: [{ ...ofPayouts, perCall: 500 }] }],
  ['limits', { ...ofPayouts, perCall: null, perDay: 900 }, { limits: [{ ...ofPayouts, perDay: 900 }] }],
  ['limits', { ...ofPayouts, perCall: null, perDay: null }, { limits: [] }],
];

describe('the limits of a team', () => {
  it('is set and lifted, answered as it is then, once, by the name of the person in the security log', async () => {
    const { set, store } = await start();
    for (const [path, body, shown] of each)
      for (const again of [body, body])
        expect(await set(`shop/${path}`, again)).toMatchObject({ statusCode: 200, team: shown });
    const deps = { store, clock: systemClock, ids: systemIds, log: silentLog };
    await recordTeamChanges({ store, verifier: testVerifier, securityLog: createSecurityLog(deps) });
    const entries = await readAudit(store, { since: 0, limit: 100, team: 'shop', kind: 'team' });
    const changes = entries.filter(({ actor }) => actor?.kind === 'person' && actor.name === 'ada');
    expect(changes.map(({ data }) => data['change'])).toEqual([
      ...['OriginsAllowed', 'OriginsAllowed', 'WalletChosen', 'WalletChosen', 'WalletChosen'],
      ...['ApprovalRequired', 'ApprovalRequired', 'MoneyLimited', 'MoneyLimited', 'MoneyLimited'],
    ]);
  });

  it('set concurrently by several people are all kept', async () => {
    const { set } = await start();
    const currencies = ['EUR', 'USD', 'GBP', 'CHF', 'SEK'];
    const answers = await Promise.all(
      currencies.map((currency) =>
        set('shop/limits', { ...ofPayouts, currency, perCall: null, perDay: 100 }),
      ),
    );
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(currencies.map(() => 200));
    const { team } = await set('shop/wallet', { wallet: { kind: 'own' } });
    expect((team as { limits: object[] }).limits).toHaveLength(currencies.length);
  });

  it('is not changed if the signing key is elsewhere', async () => {
    const { set } = await start(false);
    for (const [path, body] of each) {
      expect(await set(`shop/${path}`, body, 'operator')).toMatchObject({
        // The message asked for a team, which did not help.
        errors: [
          { code: 'scope_missing', message: 'Your role, operator, lacks the scope operators:manage.' },
        ],
      });
      const refused = await set(`shop/${path}`, body);
      expect(refused).toMatchObject({ statusCode: 409, errors: [{ code: 'signing_key_missing' }] });
    }
  });
});

const refusals: [what: string, path: string, body: object, error: object][] = [
  ['a team that is not there', 'none/wallet', { wallet: { kind: 'own' } }, { code: 'team_not_found' }],
  ['what is no name of a team', 'a%20b%ff/wallet', { wallet: { kind: 'own' } }, { code: 'invalid_request' }],
  ['a name with a space', 'a%20b/wallet', { wallet: { kind: 'own' } }, { code: 'team_not_found' }],
  [
    'plain HTTP',
    'shop/origins',
    { purpose: 'callback', origins: ['http://shop.example'] },
    { parameter: 'origins' },
  ],
  [
    'a card number, which would stand in the history of the team for good',
    'shop/origins',
    { purpose: 'callback', origins: ['https://4392963203551251.example'] },
    { code: 'invalid_param', parameter: 'origins.0' },
  ],
  ['another purpose', 'shop/origins', { purpose: 'images', origins: [] }, { parameter: 'purpose' }],
  ['a wallet without a name', 'shop/wallet', { wallet: { kind: 'shared' } }, { parameter: 'wallet.name' }],
  [
    'a name for its own wallet',
    'shop/wallet',
    { wallet: { kind: 'own', name: 'x' } },
    { parameter: 'wallet.name' },
  ],
  ['a wallet of another kind', 'shop/wallet', { wallet: { kind: 'all' } }, { parameter: 'wallet.kind' }],
  ['a rule without a sum', 'shop/approvals', inEuro, { parameter: 'above' }],
  ['a currency', 'shop/approvals', { ...inEuro, currency: 'eur', above: 1 }, { code: 'incorrect_currency' }],
  ['a limit of nothing', 'shop/limits', { ...ofPayouts, perCall: 0, perDay: null }, { parameter: 'perCall' }],
  ['a limit whose day is forgotten', 'shop/limits', { ...ofPayouts, perCall: 5 }, { parameter: 'perDay' }],
  ['a limit of cents', 'shop/limits', { ...ofPayouts, perCall: null, perDay: 1.5 }, { parameter: 'perDay' }],
  [
    'an operation',
    'shop/limits',
    { ...ofPayouts, operation: 'capture', perCall: null, perDay: 1 },
    { parameter: 'operation' },
  ],
  [
    'a key that is not there',
    'shop/limits',
    { ...ofPayouts, perCall: 1, perDay: 1, keyId: 'k9' },
    { code: 'key_not_found' },
  ],
  [
    'a field that was mistyped',
    'shop/limits',
    { ...ofPayouts, perCall: 1, perDay: 1, perMonth: 2 },
    { parameter: 'perMonth' },
  ],
];

it('invalid limits are refused with the field at fault', async () => {
  const { set } = await start();
  for (const [what, path, body, error] of refusals) {
    const { errors = [], statusCode } = await set(path, body);
    expect(statusCode, what).toBeLessThan(500);
    expect(errors, what).toMatchObject([error]);
  }
});
