/** Finds out what the provider says about a payout, and records what is new. Nothing is ever sent because of it. */
import { type PayoutObservation, isBeforeAnnouncement, isPayoutAwaited } from '@tollgate/payment-domain';
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
  const observation = isBeforeAnnouncement(payout)
    ? ({ type: 'RecordApprovalLapsed', at: deps.clock.now() } as const)
    : await ask(deps, aggregate, cause);
  if ('failure' in observation) return observation;
  const { token, revision } = aggregate;
  const executed = await deps.payouts.execute(token, observation, cause, { onlyAt: revision });
  return executed.kind === 'moved' ? 'moved' : 'inquired';
}

async function ask(
  { askAccount, windowClock }: PayoutInquiryDependencies,
  { token, payout }: PayoutAggregate,
  cause: Cause,
): Promise<PayoutObservation | Extract<Inquired, object>> {
  const { environment, serviceToken, call } = payout;
  const { account, providerOrderNumber: orderNumber } = call;
  const inquiredAt = windowClock.nowFor(token, call);
  if (isPayoutAwaited(payout) || serviceToken === undefined) {
    const outcome = await askAccount({ environment, account }, cause, (provider) =>
      provider.listPayouts({ orderNumber }),
    );
    if (outcome.kind !== 'accepted') return { failure: failureOf(outcome) };
    // Their time by the clock that announced the call.
    const aheadMs = windowClock.aheadMsOf(token, call);
    const found = outcome.answer.map(({ createdAt, ...each }) =>
      createdAt === undefined ? each : { ...each, createdAt: createdAt + aheadMs },
    );
    return { type: 'RecordPayoutSearch', found, inquiredAt };
  }
  const outcome = await askAccount({ environment, account }, cause, (provider) =>
    provider.inquirePayout(serviceToken),
  );
  if (outcome.kind === 'missing') return { type: 'RecordMissing', serviceToken, inquiredAt };
  if (outcome.kind !== 'accepted') return { failure: failureOf(outcome) };
  return { type: 'RecordPayoutObservation', observed: outcome.answer, inquiredAt };
}
