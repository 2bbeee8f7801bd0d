/** The one call that a payout's events announce: what it sends, and how its outcome is recorded. */
import {
  type ObservedPayout,
  type PayoutEvent,
  type PayoutObservation,
  payoutCallAnnouncedBy,
} from '@tollgate/payment-domain';
import type { PayOutDestination } from '@tollgate/provider';
import type { Permit } from '../accounts/account.ts';
import type { PayoutAggregate, PayoutDone, Payouts } from '../aggregates/payouts.ts';
import { type Cause, requireDone } from '../aggregates/repository.ts';
import { type AskAccount, answersThat } from '../inquiries/ask-account.ts';
import type { Announcer, OutboundCall, Sender } from './send.ts';

/** Makes the call that this process's append has announced, and gives the permit back. */
export type SendPayoutCall = (
  done: PayoutDone,
  permit: Permit,
  cause: Cause,
  destination: PayOutDestination,
) => Promise<PayoutAggregate>;

export interface PayoutCallsDependencies {
  payouts: Payouts;
  askAccount: AskAccount;
  sender: Sender;
  callbackUrlOf: (environment: string, token: string, issuedAt: number) => string;
}

export function createPayoutCalls(deps: PayoutCallsDependencies): SendPayoutCall {
  const { payouts, sender } = deps;
  return (done, permit, cause, destination) => {
    const announcer: Announcer<PayoutAggregate, PayoutEvent, PayoutObservation> = {
      callAnnouncedBy: (each) => toCall(deps, each, destination, cause),
      record: async (token, observation) => requireDone(await payouts.execute(token, observation, cause)),
      // There is one attempt: a payout is never sent again.
      permitAfter: async () => undefined,
    };
    return sender.send(announcer, done, permit);
  };
}

function toCall(
  { askAccount, callbackUrlOf }: PayoutCallsDependencies,
  { aggregate: { token, payout }, events }: PayoutDone,
  destination: PayOutDestination,
  cause: Cause,
): OutboundCall<PayoutObservation, ObservedPayout> | undefined {
  const announced = payoutCallAnnouncedBy(events, payout);
  if (announced === undefined) return undefined;
  const { operation, window, providerOrderNumber: orderNumber } = announced;
  const { amount, currency } = payout.terms;
  const { environment, call } = payout;
  const { account } = call;
  const callbackUrl = callbackUrlOf(environment, token, window.sendBy);
  return {
    operation,
    window,
    send: (provider, maySend) =>
      provider.payout({ amount, currency, orderNumber, destination, callbackUrl }, maySend),
    hasNoEffect: async () =>
      answersThat(
        await askAccount({ environment, account }, cause, (provider) =>
          provider.listPayouts({ orderNumber }),
        ),
        (found) => found.length === 0,
      ),
    record: (outcome) => ({ type: 'RecordPayoutOutcome', outcome }),
    mayBeFollowed: () => false,
    isPage: false,
  };
}
