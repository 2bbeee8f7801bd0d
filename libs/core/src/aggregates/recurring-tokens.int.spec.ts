import { temporaryStore } from '@tollgate/event-store/testing';
import { createVault, parseDataSecrets, systemClock, systemIds } from '@tollgate/service-kit';
import { expect, it } from 'vitest';
import { createRecurringTokens, recurringStream, rewrapRecurringTokens } from './recurring-tokens.ts';

const owner = {
  environment: 'sandbox',
  team: 'shop',
  account: 'main',
  paymentToken: 'pay_1',
  serviceRecurringToken: 'rt-1',
} as const;

const cause = { correlationId: 'c', causationId: 'c', actor: { kind: 'service', name: 'spec' } } as const;

async function tokensUnder(...secrets: string[]) {
  const store = await temporaryStore();
  const under = (names: readonly string[]) => {
    const secrets = parseDataSecrets(names.map((name) => `${name}:${name.repeat(32)}`).join(','));
    const deps = { store, vault: createVault(secrets, systemIds), clock: systemClock, ids: systemIds };
    return { ...deps, tokens: createRecurringTokens(deps) };
  };
  await under(secrets).tokens.keep('rec_1', owner, cause);
  return { store, under };
}

// The owner was not authenticated: a row edited in the store let another team charge the card.
it.each([{ team: 'games' }, { environment: 'production' }, { account: 'other' }, { paymentToken: 'pay_2' }])(
  'cannot be read after its owner was edited in the store: %j',
  async (edit) => {
    const { store, under } = await tokensUnder('a');
    const { tokens } = under(['a']);
    expect(await tokens.find('rec_1')).toEqual(owner);

    const stream = recurringStream('rec_1');
    for await (const { type, data, metadata } of store.read(stream)) {
      const edited = { id: systemIds.uuid(), type, data: { ...(data as object), ...edit }, metadata };
      await store.append(stream, [edited], 'any');
    }

    await expect(tokens.find('rec_1')).rejects.toMatchObject({ code: 'sealed_data_damaged' });
    await expect(rewrapRecurringTokens(under(['b', 'a']), 'b')).rejects.toMatchObject({
      code: 'sealed_data_damaged',
    });
  },
);

it('keeps its owner when it is encrypted under another data secret', async () => {
  const { under } = await tokensUnder('a');
  expect(await rewrapRecurringTokens(under(['b', 'a']), 'b')).toBe(1);
  expect(await under(['b']).tokens.find('rec_1')).toEqual(owner);
});
