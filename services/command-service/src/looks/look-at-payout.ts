/** Finds out what the Payment Service says about a payout, and records what is new. */
import { type LookFailure, type PayoutCommand, isPayoutAwaited } from '@tollgate/payment-domain';
import type { PayoutDocument } from '@tollgate/read-models';
import type { Clock, Log } from '@tollgate/service-kit';
import { fromServicePayout } from '../provider-mapping.ts';
import type { Payouts } from '../streams/payouts.ts';
import type { Cause } from '../streams/repository.ts';
import type { AccountName, AskAccount } from './ask-account.ts';
import { failureOf, isNotFound } from './look-failure.ts';
import { type LookResult, looksPerRequestMax } from './look-result.ts';

export interface PayoutLookDependencies {
  payouts: Payouts;
  askAccount: AskAccount;
  clock: Clock;
  log: Log;
}

/** Looks at one payout. Nothing is ever sent because of it. */
export async function lookAtPayout(
  deps: PayoutLookDependencies,
  token: string,
  cause: Cause,
): Promise<LookResult> {
  for (let looks = 0; looks < looksPerRequestMax; looks += 1) {
    const document = await deps.payouts.load(token);
    if (document === undefined) return 'nothing-there';
    const { phase, call } = document.payout;
    if (phase === 'requested' && deps.clock.now() < call.answerBy) return 'awaiting-answer';
    const found = await ask(deps, document);
    if ('failure' in found) return recordFailure(deps, document, found.failure, cause);
    const executed = await deps.payouts.execute(token, found, cause, document.revision);
    if (executed.kind !== 'moved') return 'looked';
  }
  return 'failed';
}

/** How long a look may fail before a person is called, the domain decides. */
async function recordFailure(
  { payouts, clock, log }: PayoutLookDependencies,
  { token, payout: { call } }: PayoutDocument,
  reason: LookFailure | undefined,
  cause: Cause,
): Promise<'failed'> {
  if (reason === undefined) return 'failed';
  const { account } = call;
  if (reason === 'account_missing') log.error({ token, account }, 'the account is not configured any more');
  const command = { type: 'RecordPayoutLookFailed' as const, reason, account, failedAt: clock.now() };
  await payouts.execute(token, command, cause);
  return 'failed';
}

const accountOf = ({ payout: { environment, call } }: PayoutDocument): AccountName => ({
  environment,
  account: call.account,
});

async function ask(
  { askAccount, clock, log }: PayoutLookDependencies,
  document: PayoutDocument,
): Promise<PayoutCommand | { failure: LookFailure | undefined }> {
  const { token, payout } = document;
  const { serviceToken, call } = payout;
  const account = accountOf(document);
  const lookedAt = clock.now();
  const note = (operation: string, outcome: string) =>
    log.debug({ token, account: call.account, operation, outcome }, 'looked at the Payment Service');
  if (isPayoutAwaited(payout) || serviceToken === undefined) {
    const { providerOrderNumber: orderNumber } = call;
    const outcome = await askAccount(account, (client) => client.listPayouts({ orderNumber }));
    note('list payouts', outcome.kind);
    if (outcome.kind !== 'accepted') return { failure: failureOf(outcome) };
    return { type: 'RecordPayoutLookup', found: outcome.answer.map(fromServicePayout), lookedAt };
  }
  const outcome = await askAccount(account, (client) => client.retrievePayout(serviceToken));
  note('retrieve payout', outcome.kind);
  if (outcome.kind === 'accepted')
    return { type: 'RecordPayoutObservation', observed: fromServicePayout(outcome.answer), lookedAt };
  const isMissing = outcome.kind === 'refused' && isNotFound(outcome.errors);
  return isMissing ? { type: 'RecordPayoutMissing', serviceToken } : { failure: failureOf(outcome) };
}

/**
 * Looks at a payout of the service that a callback names and that is not the one we know. If it was made under our number,
 * a person is called.
 */
export async function lookForSecondPayout(
  deps: PayoutLookDependencies,
  token: string,
  serviceToken: string,
  cause: Cause,
): Promise<LookResult> {
  const document = await deps.payouts.load(token);
  if (document === undefined) return 'nothing-there';
  const { call, serviceToken: known } = document.payout;
  if (known === serviceToken) return 'looked';
  const lookedAt = deps.clock.now();
  const outcome = await deps.askAccount(accountOf(document), (client) => client.retrievePayout(serviceToken));
  if (outcome.kind === 'refused' && isNotFound(outcome.errors)) return 'looked';
  if (outcome.kind !== 'accepted') return 'failed';
  if (outcome.answer.orderNumber !== call.providerOrderNumber) return 'looked';
  const observed = fromServicePayout(outcome.answer);
  const command = { type: 'RecordPayoutObservation' as const, observed, lookedAt };
  const executed = await deps.payouts.execute(token, command, cause, document.revision);
  return executed.kind === 'moved' ? 'failed' : 'looked';
}
