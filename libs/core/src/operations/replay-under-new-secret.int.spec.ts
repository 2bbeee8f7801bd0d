// Fingerprints are keyed: under a new secret, replays of earlier requests would look like other requests.
import { parseDataSecrets } from '@tollgate/service-kit';
import { describe, expect, it } from 'vitest';
import { payoutFor, teaFor } from '../testing/harness.ts';
import { keepRecurringToken, recurringAlias } from '../testing/operation-cases.ts';
import { useHarness } from '../testing/use-harness.ts';

const harness = useHarness();
const [old, recent] = [`k1:${'s'.repeat(32)}`, `k2:${'t'.repeat(32)}`];
const afterRotation = () => harness().startInstance({ dataSecrets: parseDataSecrets(`${recent},${old}`) });
const reused = { kind: 'refused', refusal: { code: 'idempotency_key_reused' } };
const replayed = { kind: 'answered', replayed: true };

describe('a replay under a new data secret', () => {
  it('of a payment is recognized, and other terms are refused', async () => {
    await harness().create(teaFor('order-1'));
    const { create } = afterRotation();
    expect(await create(teaFor('order-1'))).toMatchObject(replayed);
    expect(await create(teaFor('order-1', 1))).toEqual(reused);
    expect(harness().provider.requests).toHaveLength(1);
  });

  it('of a refund is recognized, and another amount is refused', async () => {
    const token = await harness().approved('order-1');
    await harness().refund(token, 'refund-1', 10);
    const { refund } = afterRotation();
    expect(await refund(token, 'refund-1', 10)).toMatchObject(replayed);
    expect(await refund(token, 'refund-1', 11)).toEqual(reused);
  });

  it('of a payout is recognized, and another account is refused', async () => {
    await harness().payOut(payoutFor('payout-1'));
    const { payOut } = afterRotation();
    expect(await payOut(payoutFor('payout-1'))).toMatchObject(replayed);
    const other = { bankAccount: { bankName: 'A bank', account: 'DE89370400440532013000' } };
    expect(await payOut(payoutFor('payout-1', other))).toEqual(reused);
  });

  it('is recorded under the new secret, and recognized by a process that lists it second', async () => {
    await afterRotation().create(teaFor('order-1'));
    const before = harness().startInstance({ dataSecrets: parseDataSecrets(`${old},${recent}`) });
    expect(await before.create(teaFor('order-1'))).toMatchObject(replayed);
  });
});

it('a recurring token stored under the old secret is charged', async () => {
  await keepRecurringToken(harness());
  const result = await afterRotation().create(teaFor('order-1', 5, { recurringToken: recurringAlias }));
  expect(result).toMatchObject({ kind: 'answered' });
  expect(harness().provider.requests).toMatchObject([{ source: { recurringToken: 'service-recurring' } }]);
  expect(harness().onDisk()).not.toContain('service-recurring');
});
