import type { CallOutcome, PaymentServiceClient } from '@tollgate/payment-api';
import type { Clock } from '@tollgate/service-kit';
import type { Metrics } from './metrics.ts';

/** The client of an account, with every call of it measured: those that move money and those that only look. */
export function measureClient(
  client: PaymentServiceClient,
  account: { environment: string; name: string },
  { clock, metrics }: { clock: Pick<Clock, 'monotonic'>; metrics: Pick<Metrics, 'providerCall'> },
): PaymentServiceClient {
  const measured =
    <Arguments extends unknown[], Answer>(
      operation: string,
      call: (...values: Arguments) => Promise<CallOutcome<Answer>>,
    ) =>
    async (...values: Arguments): Promise<CallOutcome<Answer>> => {
      const startedAt = clock.monotonic();
      let outcome: string = 'thrown';
      try {
        const ended = await call(...values);
        outcome = ended.kind;
        return ended;
      } finally {
        const labels = { environment: account.environment, account: account.name, operation, outcome };
        metrics.providerCall(labels, clock.monotonic() - startedAt);
      }
    };
  return {
    createPayment: measured('createPayment', client.createPayment),
    retrievePayment: measured('retrievePayment', client.retrievePayment),
    listPayments: measured('listPayments', client.listPayments),
    confirmPayment: measured('confirmPayment', client.confirmPayment),
    declinePayment: measured('declinePayment', client.declinePayment),
    refundPayment: measured('refundPayment', client.refundPayment),
    createPayout: measured('createPayout', client.createPayout),
    retrievePayout: measured('retrievePayout', client.retrievePayout),
    listPayouts: measured('listPayouts', client.listPayouts),
    retrieveBalance: measured('retrieveBalance', client.retrieveBalance),
    listDisputes: measured('listDisputes', client.listDisputes),
    close: client.close,
  };
}
