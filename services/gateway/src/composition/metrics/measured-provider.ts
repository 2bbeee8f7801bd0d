import type { Provider } from '@tollgate/provider';
import { type Clock, currentRequest } from '@tollgate/service-kit';
import type { Metrics } from '../../edge/metrics/metrics.ts';

/** The provider of an account, with every call of it measured: those that move money, and inquiries. */
export function measureProvider(
  provider: Provider,
  account: { environment: string; name: string },
  { clock, metrics }: { clock: Pick<Clock, 'monotonic'>; metrics: Pick<Metrics, 'providerCall'> },
): Provider {
  const measured =
    <Arguments extends unknown[], Outcome extends { kind: string }>(
      operation: string,
      call: (...values: Arguments) => Promise<Outcome>,
    ) =>
    async (...values: Arguments): Promise<Outcome> => {
      const startedAt = clock.monotonic();
      let kind = 'thrown';
      try {
        const outcome = await call(...values);
        ({ kind } = outcome);
        return outcome;
      } finally {
        const labels = { environment: account.environment, account: account.name, operation, outcome: kind };
        const tookMs = clock.monotonic() - startedAt;
        metrics.providerCall(labels, tookMs);
        const request = currentRequest();
        if (request !== undefined) request.providerMs += tookMs;
      }
    };
  return {
    authorize: measured('authorize', provider.authorize),
    capture: measured('capture', provider.capture),
    void: measured('void', provider.void),
    refund: measured('refund', provider.refund),
    payout: measured('payout', provider.payout),
    inquirePayment: measured('inquire_payment', provider.inquirePayment),
    inquirePayout: measured('inquire_payout', provider.inquirePayout),
    listPayments: measured('list_payments', provider.listPayments),
    listPayouts: measured('list_payouts', provider.listPayouts),
    pageOfPayments: measured('page_of_payments', provider.pageOfPayments),
    pageOfPayouts: measured('page_of_payouts', provider.pageOfPayouts),
    balance: measured('balance', provider.balance),
    listDisputes: measured('list_disputes', provider.listDisputes),
    close: provider.close,
  };
}
