/** Finds out what the Payment Service says about a payout, and records what is new. */
import { type InquiryFailure, type PayoutCommand, isPayoutAwaited } from '@tollgate/payment-domain';
import type { PayoutView } from '@tollgate/views';
import type { Clock, Log } from '@tollgate/service-kit';
import { fromServicePayout } from '../provider-mapping.ts';
import type { Payouts } from '../streams/payouts.ts';
import type { Cause } from '../streams/repository.ts';
import type { AccountName, AskAccount } from './ask-account.ts';
import { failureOf, isNotFound } from './inquiry-failure.ts';
import { type InquiryResult, inquiriesPerRequestMax } from './inquiry-result.ts';

export interface PayoutInquiryDependencies {
  payouts: Payouts;
  askAccount: AskAccount;
  clock: Clock;
  log: Log;
}

/** Looks at one payout. Nothing is ever sent because of it. */
export async function inquirePayout(
  deps: PayoutInquiryDependencies,
  token: string,
  cause: Cause,
): Promise<InquiryResult> {
  for (let inquiries = 0; inquiries < inquiriesPerRequestMax; inquiries += 1) {
    const view = await deps.payouts.load(token);
    if (view === undefined) return 'nothing-there';
    const { phase, call } = view.payout;
    if (phase === 'requested' && deps.clock.now() < call.answerBy) return 'awaiting-answer';
    const found = await ask(deps, view);
    if ('failure' in found) return recordFailure(deps, view, found.failure, cause);
    const executed = await deps.payouts.execute(token, found, cause, view.revision);
    if (executed.kind !== 'moved') return 'inquired';
  }
  return 'failed';
}

/** How long a look may fail before a person is called, the domain decides. */
async function recordFailure(
  { payouts, clock, log }: PayoutInquiryDependencies,
  { token, payout: { call } }: PayoutView,
  reason: InquiryFailure | undefined,
  cause: Cause,
): Promise<'failed'> {
  if (reason === undefined) return 'failed';
  const { account } = call;
  if (reason === 'account_missing') log.error({ token, account }, 'the account is not configured any more');
  const command = { type: 'RecordPayoutLookFailed' as const, reason, account, failedAt: clock.now() };
  await payouts.execute(token, command, cause);
  return 'failed';
}

const accountOf = ({ payout: { environment, call } }: PayoutView): AccountName => ({
  environment,
  account: call.account,
});

async function ask(
  { askAccount, clock, log }: PayoutInquiryDependencies,
  view: PayoutView,
): Promise<PayoutCommand | { failure: InquiryFailure | undefined }> {
  const { token, payout } = view;
  const { serviceToken, call } = payout;
  const account = accountOf(view);
  const inquiredAt = clock.now();
  const note = (operation: string, outcome: string) =>
    log.debug({ token, account: call.account, operation, outcome }, 'looked at the Payment Service');
  if (isPayoutAwaited(payout) || serviceToken === undefined) {
    const { providerOrderNumber: orderNumber } = call;
    const outcome = await askAccount(account, (client) => client.listPayouts({ orderNumber }));
    note('list payouts', outcome.kind);
    if (outcome.kind !== 'accepted') return { failure: failureOf(outcome) };
    return { type: 'RecordPayoutLookup', found: outcome.answer.map(fromServicePayout), inquiredAt };
  }
  const outcome = await askAccount(account, (client) => client.retrievePayout(serviceToken));
  note('retrieve payout', outcome.kind);
  if (outcome.kind === 'accepted')
    return { type: 'RecordPayoutObservation', observed: fromServicePayout(outcome.answer), inquiredAt };
  const isMissing = outcome.kind === 'refused' && isNotFound(outcome.errors);
  return isMissing ? { type: 'RecordPayoutMissing', serviceToken } : { failure: failureOf(outcome) };
}

/**
 * Looks at a payout of the service that a callback names and that is not the one we know. If it was made under our number,
 * a person is called.
 */
export async function inquireForSecondPayout(
  deps: PayoutInquiryDependencies,
  token: string,
  serviceToken: string,
  cause: Cause,
): Promise<InquiryResult> {
  const view = await deps.payouts.load(token);
  if (view === undefined) return 'nothing-there';
  const { call, serviceToken: known } = view.payout;
  if (known === serviceToken) return 'inquired';
  const inquiredAt = deps.clock.now();
  const outcome = await deps.askAccount(accountOf(view), (client) => client.retrievePayout(serviceToken));
  if (outcome.kind === 'refused' && isNotFound(outcome.errors)) return 'inquired';
  if (outcome.kind !== 'accepted') return 'failed';
  if (outcome.answer.orderNumber !== call.providerOrderNumber) return 'inquired';
  const observed = fromServicePayout(outcome.answer);
  const command = { type: 'RecordPayoutObservation' as const, observed, inquiredAt };
  const executed = await deps.payouts.execute(token, command, cause, view.revision);
  return executed.kind === 'moved' ? 'failed' : 'inquired';
}
