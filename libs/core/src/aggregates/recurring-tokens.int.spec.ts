import { temporaryStore } from '@tollgate/event-store/testing';
import { createVault, parseDataSecrets, systemClock, systemIds } from '@tollgate/service-kit';
import { expect, it } from 'vitest';
import { createRecurringTokens, recurringStream } from './recurring-tokens.ts';

const owner = {
  environment: 'sandbox',
  team: 'shop',
  account: 'main',
  paymentToken: 'pay_1',
  serviceRecurringToken: 'rt-1',
} as const;

const cause = { correlationId: 'c', causationId: 'c', actor: { kind: 'service', name: 'spec' } } as const;

// The owner was not authenticated: a row edited in the store let another team charge the card.
it.each([{ team: 'games' }, { environment: 'production' }, { account: 'other' }, { paymentToken: 'pay_2' }])(
  'cannot be read after its owner was edited in the store: %j',
  async (edit) => {
    const store = await temporaryStore();
    const vault = createVault(parseDataSecrets(`a:${'a'.repeat(32)}`), systemIds);
    const tokens = createRecurringTokens({ store, vault, clock: systemClock, ids: systemIds });
    await tokens.keep('rec_1', owner, cause);
    expect(await tokens.find('rec_1')).toEqual(owner);

    const stream = recurringStream('rec_1');
    for await (const { type, data, metadata } of store.read(stream)) {
      const edited = { id: systemIds.uuid(), type, data: { ...(data as object), ...edit }, metadata };
      await store.append(stream, [edited], 'any');
    }

    await expect(tokens.find('rec_1')).rejects.toMatchObject({ code: 'sealed_data_damaged' });
  },
);
