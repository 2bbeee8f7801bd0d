/** The provider contract for the sandbox: the Payment Service adapter over real HTTPS. */
import { readFile } from 'node:fs/promises';
import { providers } from '@tollgate/provider';
import { describeProvider, type ProviderUnderTest } from '@tollgate/provider/testing';
import { Secret, systemClock } from '@tollgate/service-kit';
import { startHarness } from './testing/harness.ts';
import { approvedCard } from './testing/samples.ts';

const operationNames = {
  authorize: 'create',
  capture: 'confirm',
  void: 'decline',
  refund: 'refund',
  payout: 'payout',
} as const;

describeProvider('the Payment Service over HTTPS', async (): Promise<ProviderUnderTest> => {
  const harness = await startHarness();
  const { httpsUrl, caFile } = harness.addresses();
  const ca = await readFile(caFile, 'utf8');
  const open = (key: string, baseUrl = httpsUrl) =>
    providers['payment-service']({ baseUrl, privateKey: new Secret(key), ca, clock: systemClock });
  const opened = {
    provider: open(harness.key()),
    refusedAccount: open('sk_sandbox_of_nobody'),
    // Port 9 is discard: nothing listens there.
    unreachable: open(harness.key(), 'https://127.0.0.1:9'),
  };
  return {
    ...opened,
    async customerPays(serviceToken) {
      await harness.pay(serviceToken, { pan: approvedCard });
      // Money paid today can be paid out the next day.
      await harness.advanceClock(24 * 60 * 60_000 + 1);
    },
    async loseAnswer(operation) {
      await harness.setFaults({ operation: operationNames[operation], fault: 'lost_reply', times: 1 });
    },
    async close() {
      await Promise.all(Object.values(opened).map((provider) => provider.close()));
      await harness.remove();
    },
  };
});
