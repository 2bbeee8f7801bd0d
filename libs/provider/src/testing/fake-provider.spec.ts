import { systemClock } from '@tollgate/service-kit';
import { createFakeProvider } from '@tollgate/core/testing';
import { describeProvider } from './provider.contract.ts';

describeProvider('the provider in memory', async () => {
  const fake = createFakeProvider(systemClock);
  const refused = createFakeProvider();
  refused.faults.push({ kind: 'refused', code: 'incorrect_private_key', errorKind: 'authentication_error' });
  const unreachable = createFakeProvider();
  unreachable.faults.push({ kind: 'not-sent' });
  return {
    provider: fake.provider,
    async customerPays(serviceToken) {
      const payment = fake.payments.get(serviceToken);
      if (payment === undefined) throw new Error('there is no such payment');
      const isDeferred = fake.requests.find(({ orderNumber }) => orderNumber === payment.orderNumber);
      if (isDeferred?.isCaptureDeferred === true)
        Object.assign(payment, { status: 'pending', authorizedAmount: payment.amount });
      else payment.status = 'approved';
    },
    loseAnswer: async (operation) => void fake.faultsOf[operation].push({ kind: 'lost-after' }),
    refusedAccount: refused.provider,
    unreachable: unreachable.provider,
    close: async () => {},
  };
});
