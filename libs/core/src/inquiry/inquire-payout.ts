/** Inquires about a payout, and records changes. Never sends a call that moves money. */
import { type ObservedPayout, type PayoutObservation } from '../domain/payout/payout-commands.ts';
import { isApprovalOver, isBeforeAnnouncement, isPayoutAwaited } from '../domain/payout/payout-state.ts';
import type { Clock } from '@tollgate/service-kit';
import type { PayoutAggregate, Payouts } from '../aggregates/payouts.ts';
import type { Cause } from '../aggregates/repository.ts';
import type { QuietPeriods } from '../outbound/quiet-periods.ts';
import type { AskAccount } from '../outbound/ask-account.ts';
import type { Inquired } from './inquire-payment.ts';
import { failureOf } from '../outbound/ask-account.ts';

export interface PayoutInquiryDependencies {
  payouts: Payouts;
  askAccount: AskAccount;
  quietPeriods: QuietPeriods;
  clock: Clock;
}

export async function inquirePayout(
  deps: PayoutInquiryDependencies,
  aggregate: PayoutAggregate,
  cause: Cause,
): Promise<Inquired> {
  const { payout } = aggregate;
  // The call is not announced: there is nothing to inquire, and only time may end the payout.
  if (isBeforeAnnouncement(payout) && !isApprovalOver(payout, deps.clock.now())) return 'inquired';
  const observation = await ask(deps, aggregate, cause);
  if ('failure' in observation) return observation;
  const { token, revision } = aggregate;
  const executed = await deps.payouts.execute(token, observation, cause, { onlyAt: revision });
  return executed.kind === 'moved' ? 'moved' : 'inquired';
}

type Unanswered = Extract<Inquired, object>;

/** Everything that the provider has under its number. */
async function searchPayout(
  { askAccount }: Pick<PayoutInquiryDependencies, 'askAccount'>,
  { payout: { environment, call } }: PayoutAggregate,
  cause: Cause,
): Promise<ObservedPayout[] | Unanswered> {
  const { account, providerOrderNumber: orderNumber } = call;
  const outcome = await askAccount({ environment, account }, cause, (provider) =>
    provider.listPayouts({ orderNumber }),
  );
  if (outcome.kind !== 'accepted') return { failure: failureOf(outcome) };
  return outcome.answer;
}

async function ask(
  deps: PayoutInquiryDependencies,
  aggregate: PayoutAggregate,
  cause: Cause,
): Promise<PayoutObservation | Unanswered> {
  const { askAccount, quietPeriods, clock } = deps;
  const { token, payout, updatedAt } = aggregate;
  const { environment, serviceToken, call } = payout;
  const { account } = call;
  const taken = quietPeriods.taken(token, isPayoutAwaited(payout) ? call : undefined, updatedAt);
  const { inquiredAt } = taken;
  // Nothing was sent, so there is nothing to inquire.
  if (isBeforeAnnouncement(payout)) return { type: 'RecordApprovalLapsed', at: clock.now() };
  if (serviceToken === undefined) {
    const found = await searchPayout(deps, aggregate, cause);
    return 'failure' in found ? found : { type: 'RecordPayoutSearch', found, inquiredAt };
  }
  const outcome = await askAccount({ environment, account }, cause, (provider) =>
    provider.inquirePayout(serviceToken),
  );
  if (outcome.kind === 'missing') return { type: 'RecordMissing', serviceToken, inquiredAt };
  if (outcome.kind !== 'accepted') return { failure: failureOf(outcome) };
  return { type: 'RecordPayoutObservation', observed: outcome.answer, ...taken };
}
