/** Finds out what the provider says about a payout, and records what is new. Nothing is ever sent because of it. */
import {
  type ObservedPayout,
  type PayoutObservation,
  isApprovalOver,
  isBeforeAnnouncement,
} from '@tollgate/payment-domain';
import type { Clock } from '@tollgate/service-kit';
import type { PayoutAggregate, Payouts } from '../aggregates/payouts.ts';
import type { Cause } from '../aggregates/repository.ts';
import type { WindowClock } from '../outbound/window-clock.ts';
import type { AskAccount } from './ask-account.ts';
import type { Inquired } from './inquire-payment.ts';
import { failureOf } from './inquiry-failure.ts';

export interface PayoutInquiryDependencies {
  payouts: Payouts;
  askAccount: AskAccount;
  windowClock: WindowClock;
  clock: Clock;
}

export async function inquirePayout(
  deps: PayoutInquiryDependencies,
  aggregate: PayoutAggregate,
  cause: Cause,
): Promise<Inquired> {
  const { payout } = aggregate;
  // Nothing of it is announced: there is nothing to ask for, and only time may end it.
  if (isBeforeAnnouncement(payout) && !isApprovalOver(payout, deps.clock.now())) return 'inquired';
  const observation = await ask(deps, aggregate, cause);
  if ('failure' in observation) return observation;
  const { token, revision } = aggregate;
  const executed = await deps.payouts.execute(token, observation, cause, { onlyAt: revision });
  return executed.kind === 'moved' ? 'moved' : 'inquired';
}

type Unanswered = Extract<Inquired, object>;

/** Everything that the provider has under its number. */
export async function searchPayout(
  { askAccount, windowClock }: Pick<PayoutInquiryDependencies, 'askAccount' | 'windowClock'>,
  { token, payout: { environment, call } }: PayoutAggregate,
  cause: Cause,
): Promise<ObservedPayout[] | Unanswered> {
  const { account, providerOrderNumber: orderNumber } = call;
  const outcome = await askAccount({ environment, account }, cause, (provider) =>
    provider.listPayouts({ orderNumber }),
  );
  if (outcome.kind !== 'accepted') return { failure: failureOf(outcome) };
  // Their time by the clock that announced the call.
  const aheadMs = windowClock.aheadMsOf(token, call);
  return outcome.answer.map(({ createdAt, ...each }) =>
    createdAt === undefined ? each : { ...each, createdAt: createdAt + aheadMs },
  );
}

async function ask(
  deps: PayoutInquiryDependencies,
  aggregate: PayoutAggregate,
  cause: Cause,
): Promise<PayoutObservation | Unanswered> {
  const { askAccount, windowClock, clock } = deps;
  const { token, payout, updatedAt } = aggregate;
  const { environment, serviceToken, call } = payout;
  const { account } = call;
  const taken = windowClock.takenFor(token, call, updatedAt);
  const { inquiredAt } = taken;
  if (serviceToken === undefined) {
    const found = await searchPayout(deps, aggregate, cause);
    if ('failure' in found) return found;
    return isBeforeAnnouncement(payout)
      ? { type: 'RecordApprovalLapsed', at: clock.now(), found }
      : { type: 'RecordPayoutSearch', found, inquiredAt };
  }
  const outcome = await askAccount({ environment, account }, cause, (provider) =>
    provider.inquirePayout(serviceToken),
  );
  if (outcome.kind === 'missing') return { type: 'RecordMissing', serviceToken, inquiredAt };
  if (outcome.kind !== 'accepted') return { failure: failureOf(outcome) };
  return { type: 'RecordPayoutObservation', observed: outcome.answer, ...taken };
}
