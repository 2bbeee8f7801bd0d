import { recurringStream } from '@tollgate/core';
import { keepRecurringToken, recurringAlias, useHarness } from '@tollgate/core/testing';
import { parseDataSecrets, systemIds } from '@tollgate/service-kit';
import { expect, it } from 'vitest';
import { rewrapRecurringTokens } from './rewrap-recurring-tokens.ts';

const harness = useHarness();
const [old, recent] = [`k1:${'s'.repeat(32)}`, `k2:${'t'.repeat(32)}`];
const afterRotation = () => harness().startInstance({ dataSecrets: parseDataSecrets(`${recent},${old}`) });

it('re-encrypted recurring tokens no longer need the old secret', async () => {
  const { store, clock, startInstance } = harness();
  await keepRecurringToken(harness());
  await keepRecurringToken(harness(), { serviceRecurringToken: 'service-other' }, 'rec_other');
  const rewrap = () => {
    const { vault } = afterRotation();
    return rewrapRecurringTokens({ store, vault, clock, ids: systemIds }, 'k2');
  };
  // Two concurrent runs do no harm, and another one has nothing to do.
  const [one, other] = await Promise.all([rewrap(), rewrap()]);
  expect(one + other).toBe(2);
  expect(await rewrap()).toBe(0);
  const { recurringTokens } = startInstance({ dataSecrets: parseDataSecrets(recent) });
  const found = [await recurringTokens.find(recurringAlias), await recurringTokens.find('rec_other')];
  expect(found).toMatchObject([
    { serviceRecurringToken: 'service-recurring', team: 'demo' },
    { serviceRecurringToken: 'service-other' },
  ]);
  // The alias still means the first card.
  await keepRecurringToken(harness(), { serviceRecurringToken: 'service-third' });
  expect(await afterRotation().recurringTokens.find(recurringAlias)).toMatchObject({
    serviceRecurringToken: 'service-recurring',
  });
});

// Otherwise an owner edited in the store would be authenticated by the new secret.
it('does not re-encrypt a token whose owner was edited in the store', async () => {
  const { store, clock } = harness();
  await keepRecurringToken(harness());
  const stream = recurringStream(recurringAlias);
  for await (const { type, data, metadata } of store.read(stream)) {
    const edited = { id: systemIds.uuid(), type, data: { ...(data as object), team: 'games' }, metadata };
    await store.append(stream, [edited], 'any');
  }
  const { vault } = afterRotation();
  await expect(rewrapRecurringTokens({ store, vault, clock, ids: systemIds }, 'k2')).rejects.toMatchObject({
    code: 'sealed_data_damaged',
  });
});
