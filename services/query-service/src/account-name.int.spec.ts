/** Only a key with the scope `admin` reads the name of the merchant account. */
import { keyIssued, keyText, appendTeamEvents } from '@tollgate/teams/testing';
import { payoutKind } from '@tollgate/views';
import { payoutRequested, requested } from '@tollgate/views/testing';
import { eventually } from '@tollgate/testing';
import { expect, test } from 'vitest';
import { given, start } from './testing/harness.ts';

const paths = [
  '/api/v1/payments/pay_1',
  '/api/v1/payments/po_1',
  '/api/v1/payments?operationType=all',
  '/api/v1/payouts/po_1',
  '/api/v1/payouts',
];

test('a key with the scope admin reads the name of the merchant account, another one does not', async () => {
  const { get, getAs, store } = await start();
  await given(store, { pay_1: [requested()] });
  const headers = await given(store, { po_1: [payoutRequested()] }, payoutKind);
  const admin = { team: 'shop', keyId: 'k9', scopes: ['read', 'admin'] as const };
  await appendTeamEvents(store, 'shop', [keyIssued({ ...admin, scopes: [...admin.scopes] })]);
  const asAdmin = getAs(`Bearer ${keyText(admin)}`);
  await eventually(async () => expect((await asAdmin('/api/v1/payments')).statusCode).toBe(200));
  for (const path of paths) {
    expect((await get(path, headers)).body, path).not.toContain('"account":');
    expect((await asAdmin(path, headers)).body, path).toMatch(/"account":"[^"]+"/);
  }
});
