/** The one call that a payout's events announce: what it sends, and how its end is recorded. */
import type { PayoutRequest } from '@tollgate/payment-api';
import { type PayoutCommand, type PayoutEvent, payoutCallAnnouncedBy } from '@tollgate/payment-domain';
import type { PayoutView } from '@tollgate/views';
import type { Permit } from '../accounts/account.ts';
import { fromPayoutOutcome } from '../provider-mapping.ts';
import type { PayoutDone, Payouts } from '../streams/payouts.ts';
import { type Cause, requireDone } from '../streams/repository.ts';
import { type AnnouncedCalls, type CallSubject, announcedCall } from './announced-calls.ts';

/** Where the money goes, as the service takes it. In memory from the request to the call, and nowhere else. */
export type PayoutDestinationSecrets = PayoutRequest['destination'];

/** Makes the call that this process's append has announced, and gives the permit back. */
export type CarryOutPayoutCalls = (
  done: PayoutDone,
  permit: Permit,
  cause: Cause,
  destination: PayoutDestinationSecrets,
) => Promise<PayoutView>;

export interface PayoutCallsDependencies {
  payouts: Payouts;
  calls: AnnouncedCalls;
  callbackUrlOf: (environment: string, token: string) => string;
}

type Subject = CallSubject<PayoutView, PayoutEvent, PayoutCommand>;

export function createPayoutCalls({
  payouts,
  calls,
  callbackUrlOf,
}: PayoutCallsDependencies): CarryOutPayoutCalls {
  return (done, permit, cause, destination) => {
    const subject: Subject = {
      announcedBy({ view: { token, payout }, events }) {
        const announced = payoutCallAnnouncedBy(events, payout);
        if (announced === undefined) return undefined;
        const { amount, currency } = payout.terms;
        const callbackUrl = callbackUrlOf(payout.environment, token);
        const orderNumber = announced.providerOrderNumber;
        return announcedCall({
          operation: 'payout',
          window: announced.window,
          send: (client) => client.createPayout({ amount, currency, orderNumber, destination, callbackUrl }),
          toCommand: (answer) => ({ type: 'RecordPayoutOutcome', outcome: fromPayoutOutcome(answer) }),
        });
      },
      execute: async (token, command) => requireDone(await payouts.execute(token, command, cause)),
      // There is one attempt: a payout is never sent again by itself.
      permitAfter: async () => undefined,
    };
    return calls.carryOut(subject, done, permit);
  };
}
